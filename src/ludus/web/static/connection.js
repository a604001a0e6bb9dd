// The socket of a game. It reconnects by itself; every message is an event named by its type, with the message as detail.
//
//     const connection = new Connection(`/api/games/${id}/live`);
//     connection.addEventListener("state", (event) => event.detail);
//     connection.send({ type: "play", move: "d" });
//     const answer = await connection.ask({ type: "tree", path: [] });      answered by its ref; rejects on an error
//
// Further events: "open", "lost" (it tries again), "gone" (the game is not there; detail is the reason).

const FIRST_WAIT = 250;
const LONGEST_WAIT = 5000;
const FINAL = new Set([1008, 4404]);

export class Connection extends EventTarget {
  constructor(path) {
    super();
    this.address = new URL(path, location.href);
    this.address.protocol = location.protocol === "https:" ? "wss:" : "ws:";
    this.address.hash = "";
    this.wait = FIRST_WAIT;
    this.isClosed = false;
    this.asked = new Map();
    this.refs = 0;
    this.open();
  }

  open() {
    const socket = (this.socket = new WebSocket(this.address));
    socket.onopen = () => {
      this.wait = FIRST_WAIT;
      this.tell("open");
    };
    socket.onmessage = (event) => this.receive(JSON.parse(event.data));
    socket.onclose = (event) => this.onClose(event);
  }

  onClose(event) {
    for (const [, { reject }] of this.asked) reject(new Error("The connection was lost."));
    this.asked.clear();
    if (this.isClosed) return;
    if (FINAL.has(event.code)) {
      this.isClosed = true;
      this.tell("gone", event.reason || "The server has closed the connection.");
      return;
    }
    this.tell("lost");
    this.timer = setTimeout(() => this.open(), this.wait);
    this.wait = Math.min(LONGEST_WAIT, 2 * this.wait);
  }

  receive(message) {
    const waiting = this.asked.get(message.ref);
    if (waiting !== undefined) {
      this.asked.delete(message.ref);
      if (message.type === "error") waiting.reject(new Error(message.message));
      else waiting.resolve(message);
      if (message.type === "error") return;
    }
    this.tell(message.type, message);
  }

  tell(type, detail = null) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }

  /** Send a message; false if there is no connection now. */
  send(message) {
    if (this.socket.readyState !== WebSocket.OPEN) return false;
    this.socket.send(JSON.stringify(message));
    return true;
  }

  /** Send a message and wait for the answer to it. */
  ask(message) {
    return new Promise((resolve, reject) => {
      const ref = `r${++this.refs}`;
      this.asked.set(ref, { resolve, reject });
      if (!this.send({ ...message, ref })) {
        this.asked.delete(ref);
        reject(new Error("There is no connection to the server."));
      }
    });
  }

  close() {
    this.isClosed = true;
    clearTimeout(this.timer);
    this.socket.close();
  }
}
