// Runs a policy that Redoubt has exported as JSON, in a browser or in Node.js. No dependencies.
//     const policy = new Policy(JSON.parse(text));
//     policy.start();
//     let action = policy.act(state);      // the state in which the episode begins
//     policy.observe(nextState);           // what the action led to
//     action = policy.act(nextState);      // and so on
class Policy {
  constructor(data, draw = Math.random) {
    if (data.format !== "redoubt-policy" || data.version !== 1)
      throw new Error("no policy of Redoubt, version 1");
    this.data = data;
    this.draw = draw;  // random numbers in [0, 1)
    this.start();
  }

  start() {
    this.stage = 0, this.state = -1, this.memory = 0, this.choice = -1;
  }

  get ended() {
    return this.data.horizon !== null && this.stage >= this.data.horizon;
  }

  // The number of the action for the state at hand.
  act(state) {
    const d = this.data;
    if (this.ended) throw new Error(`stage ${this.stage}: the horizon is over`);
    if (this.state < 0) {
      const entry = d.start_state.indexOf(state);
      if (entry < 0) throw new Error(`state ${state}: no episode begins there`);
      this.memory = this.#memory("start", entry);
      this.state = state;
    }
    if (state !== this.state) throw new Error(`state ${state}: the last observation led to state ${this.state}`);
    const stage = Math.min(this.stage, d.stages - 1);
    const node = d.node_begin[stage * d.states + state] + this.memory;
    const first = d.choice_begin[node], end = d.choice_begin[node + 1];
    if (first === end) throw new Error(`state ${state}: there is nothing to do`);
    this.choice = this.#drawn(d.choice_weight, first, end);
    return d.choice_action[this.choice];
  }

  // What the last action led to; where several outcomes lead there, the number of the one that happened.
  observe(state, outcome = null) {
    const d = this.data;
    if (this.choice < 0) throw new Error("nothing was done since the last observation");
    let listed = false, elsewhere = -1;
    const found = [];
    for (let i = d.outcome_begin[this.choice]; i < d.outcome_begin[this.choice + 1]; ++i) {
      if (d.outcome_next[i] < 0) elsewhere = i;
      if (d.outcome_next[i] !== state) continue;
      listed = true;
      if (outcome === null || outcome === d.outcome_number[i]) found.push(i);
    }
    if (found.length > 1) throw new Error(`state ${state}: say which outcome`);
    if (!(state >= 0 && state < d.states) || (found.length === 0 && (listed || elsewhere < 0)))
      throw new Error(`state ${state}: the action never leads there`);
    this.memory = found.length ? this.#memory("move", found[0])
      : this.#memory("plan", d.move_memory[d.move_begin[elsewhere]] * d.states + state);
    this.stage += 1, this.state = state, this.choice = -1;
  }

  #memory(what, entry) {
    const begin = this.data[what + "_begin"];
    return this.data[what + "_memory"][this.#drawn(this.data[what + "_weight"], begin[entry], begin[entry + 1])];
  }

  #drawn(weights, first, end) {
    let left = this.draw(), drawn = first;
    for (let i = first; i < end && left >= 0; ++i) left -= weights[i], drawn = i;
    return drawn;
  }
}
if (typeof module !== "undefined") module.exports = Policy;
