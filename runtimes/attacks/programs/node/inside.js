import fs from "node:fs";
import os from "node:os";

const quiet = (look, otherwise) => {
  try {
    return look();
  } catch {
    return otherwise;
  }
};
const read = (path) => quiet(() => fs.readFileSync(path, "utf8"), "");
const names = (path) => quiet(() => fs.readdirSync(path).sort(), []);
const section = (name, text) => console.log("@@ " + name + "\n" + text);

export default () => {
  section("status", read("/proc/self/status"));
  section("limits", read("/proc/self/limits"));
  section("mounts", read("/proc/self/mountinfo"));
  section("network", read("/proc/self/net/dev"));
  section("processes", names("/proc").filter((p) => /^\d+$/.test(p)).map((p) => p + " " + read(`/proc/${p}/comm`).trim()).join("\n"));
  section("descriptors", names("/proc/self/fd").map((n) => n + " " + quiet(() => fs.readlinkSync("/proc/self/fd/" + n), "gone")).join("\n"));
  section("environment", Object.entries(process.env).map(([k, v]) => k + "=" + v).join("\n"));
  section("root", names("/").join("\n"));
  section("hostname", os.hostname());
  section("user", String(process.getuid()));
  section("version", process.version);
};
