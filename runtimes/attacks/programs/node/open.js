import fs from "node:fs";

export default () => {
  for (;;) fs.openSync("/work/main.js");
};
