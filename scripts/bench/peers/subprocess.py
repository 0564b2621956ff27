"""A server for comparison: it runs `python3 -c` for each request, behind the standard library's HTTP server. It has no
sandbox and no schemas, and stores no records. The answer is {"output": ...}."""
import http.server
import json
import subprocess
import sys

TAIL = "\nimport json,sys\nsys.stdout.write(json.dumps(main(json.loads(sys.stdin.read()))))\n"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        run = subprocess.run([sys.executable, "-c", asked["code"] + TAIL], input=json.dumps(asked["input"]).encode(), capture_output=True)
        body = b'{"output":' + run.stdout + b"}"
        self.send_response(200 if run.returncode == 0 else 500)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 128


server = Server(("127.0.0.1", 0), Handler)
print("http://127.0.0.1:%d" % server.server_port, flush=True)
server.serve_forever()
