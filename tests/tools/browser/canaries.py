"""Servers of this machine that no page may reach, and a page that tries in every way it knows."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from socket import AF_INET, SOCK_DGRAM, SOCK_STREAM, socket

REPLY = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nAccess-Control-Allow-Origin: *\r\n"
    b"Connection: close\r\nContent-Length: 6\r\n\r\nsecret"
)


@dataclass(slots=True)
class Canary:
    """Notes every connection over TCP and every datagram on one port, ``paths`` if it is HTTP."""

    port: int = 0
    connections: int = 0
    datagrams: int = 0
    paths: list[str] = field(default_factory=list)
    _sockets: list[socket] = field(default_factory=list)

    def __enter__(self) -> Canary:
        tcp = socket(AF_INET, SOCK_STREAM)
        tcp.bind(("127.0.0.1", 0))
        tcp.listen(64)
        self.port = tcp.getsockname()[1]
        udp = socket(AF_INET, SOCK_DGRAM)
        udp.bind(("127.0.0.1", self.port))
        for one in (tcp, udp):
            one.settimeout(0.05)
            self._sockets.append(one)
        self._left = threading.Event()
        self._threads = [
            threading.Thread(target=self._accept, args=(tcp,)),
            threading.Thread(target=self._receive, args=(udp,)),
        ]
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._left.set()
        for thread in self._threads:
            thread.join()
        for one in self._sockets:
            one.close()

    _left: threading.Event = field(default_factory=threading.Event)
    _threads: list[threading.Thread] = field(default_factory=list)

    def _accept(self, tcp: socket) -> None:
        while not self._left.is_set():
            try:
                peer, _ = tcp.accept()
            except TimeoutError:
                continue
            self.connections += 1
            with peer:
                peer.settimeout(2.0)
                try:
                    head = peer.recv(4096).decode("latin-1")
                    self.paths.append(head.split(" ")[1] if " " in head else head[:20])
                    peer.sendall(REPLY)
                except OSError:
                    continue

    def _receive(self, udp: socket) -> None:
        while not self._left.is_set():
            try:
                udp.recvfrom(4096)
            except TimeoutError:
                continue
            self.datagrams += 1


def trying_page(place: str) -> bytes:
    """A page whose every part asks ``place`` (host:port) for something, at a path of its own."""
    return f"""<!doctype html><title>trying</title>
<link rel=preconnect href="http://{place}/preconnect">
<link rel=dns-prefetch href="http://{place}/dns">
<link rel=stylesheet href="http://{place}/css">
<img src="http://{place}/img">
<iframe src="http://{place}/iframe"></iframe>
<object data="http://{place}/object"></object>
<video src="http://{place}/video"></video>
<script src="http://{place}/script"></script>
<form id=f method=post action="http://{place}/form" target=t><input name=a value=b></form>
<iframe name=t></iframe>
<script>
const place = "{place}";
const tried = [];
function attempt(name, what) {{ try {{ what(); tried.push(name); }} catch (e) {{ }} }}
attempt("fetch", () => fetch(`http://${{place}}/fetch`, {{mode: "no-cors"}}).catch(() => 0));
attempt("xhr", () => {{ const x = new XMLHttpRequest(); x.open("GET", `http://${{place}}/xhr`); x.send(); }});
attempt("ws", () => new WebSocket(`ws://${{place}}/ws`));
attempt("es", () => new EventSource(`http://${{place}}/es`));
attempt("beacon", () => navigator.sendBeacon(`http://${{place}}/beacon`, "x"));
attempt("form", () => document.getElementById("f").submit());
attempt("popup", () => window.open(`http://${{place}}/popup`));
attempt("worker", () => new Worker(URL.createObjectURL(new Blob(
  [`fetch("http://${{place}}/worker", {{mode: "no-cors"}}).catch(() => 0);
    new WebSocket("ws://${{place}}/workerws");`]))));
attempt("sw", () => navigator.serviceWorker.register("/sw.js").catch(() => 0));
attempt("wt", () => new WebTransport(`https://${{place}}/wt`).ready.catch(() => 0));
attempt("rtc", () => {{
  const c = new RTCPeerConnection({{iceServers: [
    {{urls: `stun:${{place}}`}}, {{urls: `turn:${{place}}?transport=udp`, username: "a", credential: "b"}},
    {{urls: `turn:${{place}}?transport=tcp`, username: "a", credential: "b"}}]}});
  c.createDataChannel("x");
  c.createOffer().then(o => c.setLocalDescription(o));
}});
</script>""".encode()  # noqa: E501
