"""How Chromium is started: nothing of it speaks to the network but through the proxy."""

from __future__ import annotations

SWITCHES = (
    # All names are looked up by the proxy; none here.
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
    "--dns-prefetch-disable",
    # Loopback goes through the proxy, too.
    "--proxy-bypass-list=<-loopback>",
    # UDP goes round every HTTP proxy.
    "--disable-quic",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    # Nothing by itself.
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-extensions",
    "--disable-sync",
    "--metrics-recording-only",
    "--no-default-browser-check",
    "--no-first-run",
    "--no-pings",
    "--disable-features=MediaRouter,OptimizationHints,AutofillServerCommunication,DialMediaRouteProvider,WebBluetooth,WebUSB,Translate",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--password-store=basic",
    "--use-mock-keychain",
)
