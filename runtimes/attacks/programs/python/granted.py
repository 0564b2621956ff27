import socket
import urllib.request


def main(granted, other):
    try:
        with urllib.request.urlopen(f"http://{granted}/", timeout=5) as answer:
            print("granted", answer.read().decode(), sep="\t")
    except OSError as e:
        print("granted", "failed", e, sep="\t")
    for name, way in (
        ("proxy", lambda: urllib.request.urlopen(f"http://{other}/", timeout=5).read().decode()),
        ("socket", lambda: socket.create_connection(tuple(other.split(":")), 5).sendall(b"GET / HTTP/1.0\r\n\r\n")),
        ("socket to what is granted", lambda: socket.create_connection(tuple(granted.split(":")), 5).close()),
        ("name", lambda: socket.getaddrinfo("example.com", 80)),
    ):
        try:
            way()
            print("beyond", name, sep="\t")
        except OSError:
            pass
