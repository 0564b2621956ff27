// Turns a webhook into a chat message. The base address and the channel are declared in the agent's environment.

/** @type {Record<Input["event"], Output["severity"]>} */
const severities = { push: "info", issue_opened: "warning", build_failed: "alert" };
const colours = { info: 32, warning: 33, alert: 31 };

/**
 * @param {Input} input
 * @param {Ctx} ctx
 * @returns {Output}
 */
export default function main(input, ctx) {
  const severity = severities[input.event];
  const lines = describe(input);
  for (const line of lines) console.log(`\x1b[${colours[severity]}m${severity}\x1b[0m ${line}`);
  return {
    channel: `#${ctx.env.CHANNEL}`,
    severity,
    text: lines.join("\n"),
    link: new URL(input.repository, ctx.env.BASE_URL).href,
  };
}

/**
 * @param {Input} input
 * @returns {string[]}
 */
function describe(input) {
  const actor = quiet(input.actor);
  const title = quiet(input.title ?? "");
  switch (input.event) {
    case "push": {
      const commits = input.commits ?? [];
      return [`${actor} pushed ${commits.length} commits to ${input.repository}`, ...commits.map((text) => `• ${quiet(text)}`)];
    }
    case "issue_opened":
      return [`${actor} opened an issue in ${input.repository}: ${title}`];
    case "build_failed":
      return [`The build of ${input.repository} failed after a change by ${actor}`];
  }
}

/**
 * Text from outside must not call anybody: a zero-width space breaks up mentions.
 * @param {string} text
 */
function quiet(text) {
  return text.replaceAll("@", "@\u200b");
}
