import { Worker } from "node:worker_threads";

export default () => new Promise((_, fail) => {
  for (let i = 0; i < 100; i++) new Worker("setInterval(() => {}, 1e6)", { eval: true }).on("error", fail);
});
