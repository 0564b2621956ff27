/**
 * @typedef {object} Line
 * @property {string} name
 * @property {number} [count] How many.
 */

/**
 * @param {{lines: Line[], unit: "kg" | "g"}} input The order.
 * @param {any} ctx
 * @returns {Promise<{total: number, names: string[]}>}
 */
export default async function main(input, ctx) {
  return { total: 1, names: [] };
}
// valid {"lines": [{"name": "a"}], "unit": "kg"}
// invalid {"lines": [{"count": 1}], "unit": "kg"}
// invalid {"lines": [], "unit": "t"}
