#!/usr/bin/env python3
"""Attacks a server as its clients and programs do, and prints a table.

    clients.py BINARY [ITEM,...]

It uses only interfaces that did not change, so it attacks an older build too. Each row says whether the attack
SUCCEEDED, or was refused or bounded, with the evidence. The exit status is 1 if an attack succeeded.
"""

import hashlib
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

TOKEN = "a-token-that-is-long-enough-to-be-one"
SECRET = "hunter2-hunter2"


class Server:
    """A server on a free port with a separate data directory."""

    def __init__(self, binary, *flags):
        self.dir = tempfile.TemporaryDirectory(prefix="atelier-attack-")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.log = open(os.path.join(self.dir.name, "log"), "wb")
        self.process = subprocess.Popen(
            [binary, "serve", "--data", os.path.join(self.dir.name, "data"), "--listen", f"127.0.0.1:{self.port}", "--token", TOKEN, *flags],
            stdout=self.log, stderr=self.log)
        deadline = time.monotonic() + 600
        while self.status() != 200:
            if self.process.poll() is not None or time.monotonic() > deadline:
                self.close()
                raise SystemExit("the server does not start")
            time.sleep(0.1)

    def status(self):
        try:
            return self.ask("GET", "/ready", timeout=5)[0]
        except OSError:
            return 0

    def ask(self, method, path, body=None, token=TOKEN, timeout=180, headers=None):
        """Sends a request and returns the status and the decoded answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            text = body if body is None or isinstance(body, (bytes, str)) else json.dumps(body)
            connection.request(method, path, text, {"Authorization": "Bearer " + token, "Content-Type": "application/json", **(headers or {})})
            answer = connection.getresponse()
            content = answer.read()
            try:
                return answer.status, json.loads(content)
            except ValueError:
                return answer.status, content.decode(errors="replace")
        finally:
            connection.close()

    def run(self, code, language="python", **fields):
        """Runs a program. If the server could not begin the run, the function repeats it, because such a run proves
        nothing."""
        for _ in range(3):
            status, answer = self.ask("POST", "/api/v1/execute", {"language": language, "code": code, "input": {}, **fields})
            if status != 503:
                break
        return status, answer

    def peak(self):
        with open(f"/proc/{self.process.pid}/status") as status:
            return next(int(line.split()[1]) >> 10 for line in status if line.startswith("VmHWM"))

    def peaks_of_children(self):
        """Returns a list with the peak memory of each process that the server has started, in MiB."""
        peaks = []
        for task in os.listdir(f"/proc/{self.process.pid}/task"):
            try:
                with open(f"/proc/{self.process.pid}/task/{task}/children") as children:
                    pids = children.read().split()
                for pid in pids:
                    with open(f"/proc/{pid}/status") as status:
                        peaks += [int(line.split()[1]) >> 10 for line in status if line.startswith("VmHWM")]
            except OSError:
                pass  # the process has ended
        return peaks

    def close(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()
        self.dir.cleanup()


def together(number, work):
    threads = [threading.Thread(target=work, args=(i,)) for i in range(number)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def short(answer):
    if isinstance(answer, dict):
        found = answer.get("code") or answer.get("error") or answer.get("output")
        if isinstance(found, dict):
            found = f"{found.get('type')}: {found.get('message')}"
        answer = found if found is not None else answer.get("status")
    return str(answer)[:90]


def output_of(status, answer):
    """Returns the output of a program that succeeded. Otherwise it returns None, and the attack counts as a success
    because nothing is proved."""
    return answer.get("output") if status == 200 and answer.get("status") == "succeeded" else None


def shared_process(server):
    status, answer = server.ask("POST", "/api/v1/code-agents", {
        "name": "shared", "language": "javascript", "runtime": "node", "isolation": "reuse", "code": "export default () => 1"})
    return status < 300, f"a version that shares a process between callers is answered {status} {short(answer) if status >= 300 else ''}"


def unfinished_results(server):
    """Programs try to fill the memory of the process that starts and watches the runs of all workspaces. This process
    may use 2 GiB."""
    def flood(_):
        server.ask("POST", "/api/v1/execute", {"language": "python", "isolation": "strict", "input": {}, "limits": {"timeoutMs": 60_000, "memoryBytes": 64 << 20, "outputBytes": 16 << 20}, "code": """
import os, time
def main():
    line, size = b'{"end":"', 16_950_000
    while size > 0:
        size -= os.write(3, line)
        line = b"x" * 65536
    time.sleep(20)
"""})

    flooding = threading.Thread(target=together, args=(48, flood))
    flooding.start()
    peak = 0
    while flooding.is_alive():
        peak = max([peak, *server.peaks_of_children()])
        time.sleep(0.2)
    return peak > 1024, f"48 programs send unfinished results of 16 MB: peak of the process that started them {peak} of 2048 MiB"


def hostile_messages(server):
    """Messages to the skills' API that its schemas do not foresee. None may be the server's own failure."""
    deep = "[" * 5000 + "]" * 5000
    texts = ["a\\u0000b", "\\ud800", "\\u202e" * 50, "x" * 200_000, "../../etc/passwd", "\\u0007"]
    bodies = ["", "{", "[]", "null", '"x"', "1e999", deep, '{"skill":' + deep + "}", '{"skill":"a","args":' + deep + "}"]
    bodies += [f'{{"{name}":"{text}","{other}":"{text}","code":"{text}","description":"{text}","action":"{text}","args":{{}}}}'
               for text in texts for name, other in (("skill", "name"), ("name", "version"), ("id", "handler_path"))]
    for i, text in enumerate(texts):
        valid = {"name": f"greet{i}", "version": "1.0.0", "description": "Greets.", "handler_path": "greet.main", "input_schema": {"type": "object"}, "output_schema": {"type": "object"}, "code": "def run(action, args):\n    return {}\n"}
        for field in ("description", "code", "version", "handler_path", "tags", "title"):
            bodies.append(json.dumps({**valid, field: "@"}).replace('"@"', f'"{text}"'))
    failures = {}
    count = 0
    for path in ("/skills/execute", "/skills/register", "/v1/skills/create", "/v1/skills/run", "/v1/skills/install", "/v1/skills/promote", "/v1/validation/code"):
        for body in bodies:
            count += 1
            try:
                status = server.ask("POST", path, body)[0]
            except OSError:
                status = 599
            if status >= 500:
                failures.setdefault(f"{path} {status}", []).append(body[:60])
    return bool(failures), f"of {count} messages to the skills' API {sum(map(len, failures.values()))} are answered as a failure of the server" + (f": {', '.join(failures)}" if failures else "")


def nested_bodies(server):
    body = b'{"language":"python","code":"def main(a): return a","input":{"a":[' + b"[]," * (7_700_000 // 3) + b"[]]}}"
    statuses = {}

    def client(_):
        try:
            status = server.ask("POST", "/api/v1/validate", body)[0]
        except OSError:
            status = "cut off"
        statuses[status] = statuses.get(status, 0) + 1

    before = server.peak()
    together(16, client)
    peak = server.peak()
    return peak > 1024, f"16 bodies of 7.7 MB: peak of the server {before} -> {peak} MiB, answers {statuses}"


def meeting(server):
    status, answer = server.run("""
import fcntl, socket
def main():
    done = []
    try:
        socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        done.append("a pair of datagram sockets")
    except OSError:
        pass
    try:
        fcntl.flock(open("/usr/bin/env", "rb"), fcntl.LOCK_EX)
        done.append("a lock of a file of the host")
    except OSError:
        pass
    return done
""")
    done = output_of(status, answer)
    return done != [], f"a program gets {', '.join(done)}" if done else f"a program gets neither a pair of datagram sockets nor a lock of /usr/bin/env (output {done})"


def long_integer(server):
    began = time.monotonic()
    body = '{"language":"python","code":"def main(n): return 1","input":{"n":' + "7" * 3_000_000 + "}}"
    status, answer = server.ask("POST", "/api/v1/execute", body)
    took = time.monotonic() - began
    return status >= 500 or status == 200, f"an integer of 3,000,000 digits is answered {status} {short(answer)} after {took:.1f} s"


def host_files(server):
    status, answer = server.run("""
import os
def main():
    return [p for p in ("/usr/local/etc", "/usr/src", "/usr/include", "/usr/share/doc") if os.path.isdir(p)]
""")
    found = output_of(status, answer)
    return found != [], f"a program sees {', '.join(found)}" if found else f"a program sees no settings, sources or documents (output {found})"


def wrong_passwords(server):
    refused = [server.ask("POST", "/api/v1/session", {"name": "admin", "password": f"wrong password {i}"})[0] for i in range(40)]
    refused += [server.ask("POST", "/api/v1/session", {"token": f"ate_wrong{i:040}"})[0] for i in range(40)]
    status, answer = server.ask("POST", "/api/v1/session", {"token": TOKEN})
    return status >= 300, f"after {len(refused)} wrong secrets (the last answer is {refused[-1]}) the right one from the same address is answered {status}"


def own_listener(server):
    address = f"127.0.0.1:{server.port}"
    status, answer = server.run(f"""
export default async function main(input, ctx) {{
  const answer = await fetch("http://{address}/health")
  return (await answer.text()).slice(0, 60)
}}
""", language="javascript", capabilities={"hosts": [address]})
    reached = status == 200 and answer.get("status") == "succeeded"
    return reached, f"a program {'reads' if reached else 'does not reach'} /health of its server: {short(answer)}"


def without_groups(server):
    """Without control groups the server measures at intervals, so a short peak is possible. The program holds the
    memory for two seconds, which is many intervals."""
    status, answer = server.run("""
import os, socket, time
def fill():
    held = 0
    kept = []
    try:
        for _ in range(100):
            a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
            a.setblocking(False)
            kept.append((a, b))
            try:
                while True:
                    held += a.send(b"x" * 65536)
            except BlockingIOError:
                pass
    except OSError:
        pass
    return held, kept
def main():
    r, w = os.pipe()
    for _ in range(24):
        if os.fork() == 0:
            held, kept = fill()
            os.write(w, held.to_bytes(8, "big"))
            time.sleep(600)
            os._exit(0)
    held = sum(int.from_bytes(os.read(r, 8), "big") for _ in range(24)) >> 20
    time.sleep(2)
    return held
""", limits={"memoryBytes": 64 << 20}, capabilities={"subprocess": True})
    held = answer.get("output") if status == 200 else None
    return isinstance(held, int) and held > 128, f"a run with 64 MiB holds {held} MiB in sockets" if held else f"a run with 64 MiB that fills sockets ends: {short(answer)}"


def confirmed_secret(server):
    server.ask("PUT", "/api/v1/secrets/KEY", {"value": SECRET})
    text = json.dumps({"guess": SECRET}, separators=(",", ":"))
    server.ask("POST", "/api/v1/code-agents", {"name": "guess", "language": "python", "code": "def main(guess): return 1", "secrets": ["KEY"]})
    status, answer = server.ask("POST", "/api/v1/code-agents/guess/execute", '{"version":"draft","input":' + text + "}")
    stored = (answer.get("provenance") or {}).get("inputsHash", "") if status == 200 else ""
    same = stored.endswith(hashlib.sha256(text.encode()).hexdigest())
    return same, f"inputsHash of an input with a secret {'is' if same else 'is not'} the SHA-256 of the guess (run answered {status} {short(answer) if status != 200 else ''})"


def trace(server):
    statuses = {path: server.ask("TRACE", path)[0] for path in ("/", "/api/v1/runs", "/studio/", "/skills/list", "/nowhere")}
    return len(set(statuses.values())) > 1 or 200 in statuses.values(), "TRACE is answered " + ", ".join(f"{path} {status}" for path, status in statuses.items())


ATTACKS = [
    ("1", "one V8 process for several callers", shared_process, ()),
    ("2", "results without an end, in the process that starts all runs", unfinished_results, ("--concurrency=100",)),
    ("3", "bodies whose decoded form is fifty times their text", nested_bodies, ()),
    ("4", "sockets and locks by which tenants meet", meeting, ()),
    ("5", "time before the clock starts", long_integer, ()),
    ("6", "files of /usr that no program needs", host_files, ()),
    ("7", "guesses that lock out everybody at an address", wrong_passwords, ()),
    ("8", "the server's own listener", own_listener, ()),
    ("9", "memory in sockets, without control groups", without_groups, ("--mask-sandbox=cgroups",)),
    ("10", "a secret that is confirmed by its digest", confirmed_secret, ()),
    ("10", "TRACE", trace, ()),
    ("11", "messages of skills' clients that no schema foresees", hostile_messages, ()),
]


def main():
    binary = os.path.abspath(sys.argv[1])
    wanted = sys.argv[2].split(",") if len(sys.argv) > 2 and sys.argv[2] else None
    succeeded = 0
    for item, what, attack, flags in ATTACKS:
        if wanted and item not in wanted:
            continue
        server = Server(binary, *flags)
        try:
            worked, evidence = attack(server)
        finally:
            server.close()
        succeeded += worked
        print(f"{item:<5} {what:<64} {'SUCCEEDED' if worked else 'refused/bounded':<18} {evidence}", flush=True)
    return 1 if succeeded else 0


if __name__ == "__main__":
    sys.exit(main())
