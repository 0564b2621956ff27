/** @param {{a: number, b?: string[]}} input */
function main(input) {
  return { sum: input.a };
}
module.exports = { main };
// valid {"a": 1}
// invalid {"a": "1"}
// invalid {"a": 1, "b": [1]}
