"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const byId = (id) => document.getElementById(id);
  const make = (tag, text, properties = {}) => Object.assign(document.createElement(tag), {textContent: text}, properties);
  const percent = (share) => (share >= 0.9995 ? "100 %" : (100 * share).toPrecision(3).replace(/\.0+$/, "") + " %");
  const short = (value) => Number(value.toPrecision(6)).toString();

  // The slider along a trade-off curve.
  for (const box of document.querySelectorAll(".slider")) {
    const places = data.curves[box.dataset.curve], slider = box.querySelector("input");
    const marker = byId("chosen" + box.dataset.curve);
    const show = () => {
      const place = places[slider.value];
      for (const field of box.querySelectorAll("[data-of]")) field.textContent = place[field.dataset.of];
      slider.setAttribute("aria-valuetext", place.shown);
      if (marker) marker.setAttribute("cx", place.x), marker.setAttribute("cy", place.y);
    };
    slider.addEventListener("input", show);
    show();
  }
  const policy = data.policy;
  if (!policy) return;
  const stateName = (state) => policy.states[state] ?? String(state);
  const decision = (node) => node[5].map(([action, weight]) =>
    policy.actions[action] + (weight < 0.9995 ? " " + percent(weight) : "")).join(", ");
  const known = new Map(policy.nodes.map((node) => [node.slice(0, 3).join("|"), node]));
  const find = (stage, state, memory) => known.get([Math.min(stage, policy.stages - 1), state, memory].join("|"));

  // All decisions: search, sort, pages.
  const size = 25, columns = ["stage", "state", "memory", "visits", "decision", ...policy.promises.map((name) => "promised " + name)];
  const entry = (node, column) => column === 1 ? stateName(node[1]) : column === 4 ? decision(node) : column < 4 ? node[column] : node[4][column - 5];
  const text = policy.nodes.map((node) => (stateName(node[1]) + " " + node[5].map(([action]) => policy.actions[action]).join(" ")).toLowerCase());
  let listed = policy.nodes.map((_, i) => i), sorted = -1, direction = 1, page = 0;
  const head = byId("decisions").querySelector("thead tr");
  columns.forEach((name, column) => {
    const cell = make("th", "", {scope: "col"}), button = make("button", name, {type: "button"});
    button.addEventListener("click", () => {
      direction = sorted === column ? -direction : 1;
      sorted = column;
      refresh();
    });
    cell.append(button);
    head.append(cell);
  });
  const refresh = () => {
    const wanted = byId("search").value.trim().toLowerCase();
    listed = policy.nodes.map((_, i) => i).filter((i) => text[i].includes(wanted));
    if (sorted >= 0) {
      listed.sort((a, b) => {
        const left = entry(policy.nodes[a], sorted), right = entry(policy.nodes[b], sorted);
        return direction * (typeof left === "number" ? left - right : left.localeCompare(right, undefined, {numeric: true})) || a - b;
      });
    }
    [...head.children].forEach((cell, i) => {
      if (i === sorted) cell.setAttribute("aria-sort", direction > 0 ? "ascending" : "descending");
      else cell.removeAttribute("aria-sort");
    });
    page = 0;
    show();
  };
  const show = () => {
    const pages = Math.max(1, Math.ceil(listed.length / size));
    const rows = listed.slice(page * size, (page + 1) * size).map((i) => {
      const row = document.createElement("tr"), node = policy.nodes[i];
      columns.forEach((_, column) => {
        const value = entry(node, column);
        row.append(make("td", typeof value === "number" ? short(value) : value));
      });
      return row;
    });
    byId("decisions").querySelector("tbody").replaceChildren(...rows);
    byId("found").textContent = listed.length.toLocaleString("en") + " found";
    byId("page-of").textContent = `page ${page + 1} of ${pages.toLocaleString("en")}`;
    byId("before").disabled = page === 0;
    byId("after").disabled = page + 1 >= pages;
  };
  byId("search").addEventListener("input", refresh);
  byId("before").addEventListener("click", () => (--page, show()));
  byId("after").addEventListener("click", () => (++page, show()));
  refresh();

  // Step by step: where an episode is, and where it was.
  let trail = [];
  const button = (label, place) => {
    const one = make("button", label, {type: "button"});
    one.addEventListener("click", () => {
      trail.push(place);
      step(true);
    });
    return one;
  };
  const choices = (title, buttons) => {
    const box = make("p", "", {className: "buttons"});
    box.append(...buttons);
    return [make("p", title), box];
  };
  const memories = (stage, state, moves) => moves.map(([memory, weight]) => button(
    stateName(state) + (moves.length > 1 || memory ? `, memory ${memory}` : "") + (weight < 0.9995 ? ` (${percent(weight)})` : ""), [stage, state, memory]));
  const step = (focus) => {
    const now = byId("step-now"), parts = [];
    byId("step-back").disabled = trail.length === 0;
    if (trail.length === 0) {
      parts.push(...choices("Where does the episode begin?", policy.start.flatMap(([state, moves]) => memories(0, state, moves))));
    } else {
      const [stage, state, memory] = trail[trail.length - 1], node = find(stage, state, memory);
      const list = document.createElement("dl");
      const add = (key, value) => {
        const row = document.createElement("div");
        row.append(make("dt", key), make("dd", value));
        list.append(row);
      };
      add("stage", String(stage));
      add("state", stateName(state));
      add("memory", String(memory));
      parts.push(list);
      if (policy.horizon !== null && stage >= policy.horizon) parts.push(make("p", "The horizon is over."));
      else if (!node) parts.push(make("p", policy.shown < policy.total ? "Nothing is decided here, or the page leaves it out." : "Nothing is decided here: the episode has ended."));
      else {
        add("decision", decision(node));
        policy.promises.forEach((name, i) => add("promised " + name, short(node[4][i])));
        for (const [action, weight, outcomes] of node[5])
          parts.push(...choices(`After ${policy.actions[action]}${weight < 0.9995 ? ` (${percent(weight)})` : ""}, what happened?`,
            outcomes.flatMap(([next, moves]) => memories(stage + 1, next, moves))));
      }
    }
    now.replaceChildren(...parts);
    if (focus) (now.querySelector("button") ?? byId("step-start")).focus();
  };
  byId("step-start").addEventListener("click", () => (trail = [], step(true)));
  byId("step-back").addEventListener("click", () => (trail.pop(), step(true)));
  step(false);

  // The map.
  if (!policy.places) return;
  const svg = (tag, attributes) => {
    const one = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [key, value] of Object.entries(attributes)) one.setAttribute(key, value);
    return one;
  };
  const colours = ["#56b4e9", "#e69f00", "#3fc69d", "#dd8fc0", "#f0e442", "#b0b0b0", "#ff8a65", "#9fa8da"];
  const arrows = {up: "↑", down: "↓", left: "←", right: "→", north: "↑", south: "↓", west: "←", east: "→", stay: "•"};
  const at = policy.places.filter((place) => place);
  const top = Math.min(...at.map((p) => p[0])), left = Math.min(...at.map((p) => p[1]));
  const rows = Math.max(...at.map((p) => p[0])) - top + 1, wide = Math.max(...at.map((p) => p[1])) - left + 1;
  const paint = () => {
    const stage = Number(byId("map-stage").value), best = new Map();
    for (const node of policy.nodes)
      if (node[0] === stage && (!best.has(node[1]) || best.get(node[1])[3] < node[3])) best.set(node[1], node);
    const board = svg("svg", {viewBox: `0 0 ${wide * 40} ${rows * 40}`, role: "img", "aria-label": `Decisions at stage ${stage}`, style: `max-width:${Math.min(wide * 56, 860)}px`});
    const used = new Set();
    policy.places.forEach((place, state) => {
      if (!place) return;
      const x = (place[1] - left) * 40, y = (place[0] - top) * 40, node = best.get(state);
      const likely = node && node[5].reduce((a, b) => (b[1] > a[1] ? b : a));
      const cell = svg("rect", {class: likely ? "cell" : "cell none", x, y, width: 40, height: 40});
      const title = svg("title", {});
      title.textContent = stateName(state) + ": " + (node ? decision(node) + ", visited " + percent(node[3]) : "no decision, or left out");
      cell.append(title);
      board.append(cell);
      if (!likely) return;
      used.add(likely[0]);
      cell.style.fill = colours[likely[0] % colours.length];
      const name = policy.actions[likely[0]], mark = svg("text", {class: "cell-text", x: x + 20, y: y + 21});
      mark.textContent = arrows[name.toLowerCase()] ?? name.slice(0, 2);
      board.append(mark);
    });
    byId("board").replaceChildren(board);
    byId("map-at").textContent = String(stage);
    byId("map-legend").replaceChildren(...[...used].sort((a, b) => a - b).map((action) => {
      const one = make("span", ""), key = svg("svg", {class: "key", viewBox: "0 0 26 12"}), box = svg("rect", {width: 26, height: 12});
      box.style.fill = colours[action % colours.length];
      key.append(box);
      one.append(key, policy.actions[action]);
      return one;
    }));
  };
  byId("map-stage").addEventListener("input", paint);
  paint();
})();
