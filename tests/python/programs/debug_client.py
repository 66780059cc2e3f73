"""A client of the Debug Adapter Protocol (https://microsoft.github.io/debug-adapter-protocol/) that goes on after each stop.

usage: debug_client.py PORT

Each line of standard input sets the breakpoints of a file, "FILE LINE...". The answer is the number of stops so far.
"""

import json
import queue
import socket
import sys
import threading

file = socket.create_connection(("127.0.0.1", int(sys.argv[1]))).makefile("rwb")
sending = threading.Lock()
names = queue.Queue()
stops = 0


def send(command, **arguments):
    text = json.dumps({"seq": 1, "type": "request", "command": command, "arguments": arguments}).encode()
    with sending:
        file.write(b"Content-Length: %d\r\n\r\n%s" % (len(text), text))
        file.flush()


def read():
    global stops
    while head := file.readline():
        file.readline()
        message = json.loads(file.read(int(head.split(b":")[1])))
        name = message.get("command") or message["event"]
        if name == "stopped":
            stops += 1
            send("continue", threadId=message["body"]["threadId"])
        names.put(name)


def wait(name):
    while names.get(timeout=60) != name:
        pass


threading.Thread(target=read, daemon=True).start()
send("initialize", adapterID="test", clientID="test")
send("attach", justMyCode=False)
wait("initialized")
send("configurationDone")
wait("attach")
for line in sys.stdin:
    path, *lines = line.split()
    send("setBreakpoints", source={"path": path}, breakpoints=[{"line": int(line)} for line in lines])
    wait("setBreakpoints")
    print(stops, flush=True)
