// A page that shows figures of the server and asks for them again and again, for as long as it is open.

import { getCatalogue } from "./api.js";

export class Dashboard {
  /** `every`: milliseconds between two calls of `refresh`. */
  constructor(every) {
    this.every = every;
  }

  async enter() {
    this.catalogue = await getCatalogue(true);
    this.build();
    await this.refresh();
    this.timer = setInterval(() => this.refresh(), this.every);
  }

  leave() {
    clearInterval(this.timer);
    this.isGone = true;
  }
}
