import cp from "node:child_process";
import dgram from "node:dgram";
import dns from "node:dns/promises";
import fs from "node:fs";
import net from "node:net";
import path from "node:path";

const attempt = async (canary, way, search) => {
  try {
    const value = await search();
    console.log([canary, way, value ? "reached" : "refused", JSON.stringify(value ?? null).slice(0, 200)].join("\t"));
  } catch (error) {
    console.log([canary, way, "refused", String(error).split("\n")[0]].join("\t"));
  }
};
const read = (file) => fs.readFileSync(file, "utf8").slice(0, 4096);
const connect = (to) => new Promise((done, fail) => net.connect(to).on("connect", () => done(true)).on("error", fail));
const leaked = (files) => files.map((file) => { try { return read(file); } catch { return ""; } }).filter(Boolean);

export default async ({ file, usr, addresses, tcp, udp, abstract }) => {
  for (const prefix of ["", "/proc/1/root", "/proc/self/root", "../../../../../../..", "/usr/../.."]) await attempt("file", prefix || "its path", () => read(prefix + file));
  await attempt("file", "a link", () => { fs.symlinkSync(file, "/tmp/link"); return read("/tmp/link"); });
  await attempt("file", "its folder", () => fs.readdirSync(path.dirname(file)));
  await attempt("file", "a process", () => cp.execFileSync("/bin/cat", [file]).length);
  for (const place of usr) await attempt("settings in /usr", place, () => leaked([place]).concat(fs.readdirSync(place)).length);
  for (const host of addresses) {
    await attempt("network", "tcp " + host, () => connect({ host, port: tcp }));
    await attempt("network", "udp " + host, () => new Promise((done, fail) => { const s = dgram.createSocket("udp4"); s.send("x", udp, host, (e) => { s.close(); e ? fail(e) : done(true); }); }));
  }
  await attempt("network", "dns", () => dns.lookup("example.com"));
  await attempt("network", "fetch", async () => (await fetch(`http://${addresses[0]}:${tcp}/`)).status);
  await attempt("abstract socket", "stream", () => connect({ path: "\0" + abstract }));
  const others = fs.readdirSync("/proc").filter((p) => /^\d+$/.test(p) && Number(p) !== process.pid);
  console.log("environment\tits own\trefused\t" + JSON.stringify(process.env));
  await attempt("environment", "of other processes", () => leaked(others.map((p) => `/proc/${p}/environ`)).length);
  await attempt("other run", "files", () => leaked(["/work", "/tmp", "/dev/shm"].map((dir) => dir + "/neighbour")).length);
};
