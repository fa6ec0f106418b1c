// Keys, decisions and what others decide meanwhile. Pages work as links and forms without it.
"use strict";

const page = document.body.dataset.page;
const rows = [...document.querySelectorAll(".rows .row")];
const names = { open: "open", accept: "accepted", reject: "rejected", unsure: "unsure", "no-match": "no match", conflict: "conflict" };
let current = -1;
let version = Number(document.body.dataset.version || 0);

function say(text, bad = false) {
  const place = document.getElementById("message");
  place.textContent = text;
  place.classList.toggle("bad", bad);
  clearTimeout(say.timer);
  if (!bad) say.timer = setTimeout(() => { place.textContent = ""; }, 3500);
}

// What was saved, also on the page that follows; offers the same for links with the same names.
function tell(note) {
  say(note.text);
  sessionStorage.removeItem("note");
  if (!note.alike) return;
  clearTimeout(say.timer);
  const button = document.createElement("button");
  button.type = "button";
  button.dataset.repeat = note.request;
  const more = note.alike > 1 ? `${note.alike.toLocaleString("en")} others` : "another";
  button.textContent = `The same for ${more} with the same ${note.alone ? "name" : "two names"} (s)`;
  document.getElementById("message").append(" ", button);
}

// --- talking to the server ---

function newRequest() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

const wait = (time) => new Promise((done) => { setTimeout(done, time); });

// Sends JSON until the server answers. A request that is sent twice is stored once.
async function send(path, values) {
  for (let attempt = 0; ; attempt += 1) {
    try {
      const response = await fetch(path, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify(values),
      });
      if (response.status === 429 && attempt < 20) throw new TypeError("busy");
      const answer = response.headers.get("content-type")?.startsWith("application/json")
        ? await response.json() : { error: await response.text() };
      if (!response.ok) throw new Error(answer.error);
      return answer;
    } catch (error) {
      if (!(error instanceof TypeError) || attempt >= 20) throw error;
      say("Not saved yet: the server does not answer. Trying again …", true);
      await wait(500 * Math.min(attempt + 1, 6));
    }
  }
}

const stack = () => JSON.parse(sessionStorage.getItem("requests") || "[]");
const keep = (requests) => sessionStorage.setItem("requests", JSON.stringify(requests.slice(-200)));

async function decide(claims, row) {
  if (!document.body.dataset.reviewer) {
    document.getElementById("who-dialog").showModal();
    return;
  }
  const request = newRequest();
  const answer = await save("/decide", { request, claims });
  if (!answer) return;
  const text = `Saved: ${claims.map((claim) => names[claim.verdict]).join(", ")}. Press z to undo.`;
  const note = { text, request, alike: answer.alike, alone: claims[0].verdict === "no-match" };
  if (page === "pair") {
    sessionStorage.setItem("note", JSON.stringify(note));
    follow("next", () => location.reload());
    return;
  }
  tell(note);
  if (row && rows[current] === row) move(1);
}

// The same decision about all links with the same two names.
async function repeat(of) {
  const answer = await save("/repeat", { request: newRequest(), of });
  if (answer) say(`Saved for ${answer.states.length.toLocaleString("en")} more. Press z to undo all of them.`);
}

async function save(path, values) {
  const answer = await ask(path, values, "Not saved: ");
  if (answer) keep([...stack(), values.request]);
  return answer;
}

// The answer to an action, which is shown; null if it was refused, which is said.
async function ask(path, values, problem = "") {
  try {
    const answer = await send(path, values);
    show(answer);
    return answer;
  } catch (error) {
    say(problem + error.message, true);
    return null;
  }
}

async function undo(request) {
  const requests = stack();
  const last = request || requests[requests.length - 1];
  if (!last) {
    say("Nothing of this window is left to undo; the page Decisions has all.");
  } else if (await ask("/undo", { request: last })) {
    keep(requests.filter((one) => one !== last));
    say("Undone.");
    if (page === "decisions" || page === "pair") location.reload();
  }
}

function show(answer) {
  for (const one of answer.states || []) {
    for (const badge of document.querySelectorAll("[data-state-left]")) {
      if (badge.dataset.stateLeft === one.left && badge.dataset.stateRight === one.right) {
        badge.className = `state ${one.state}`;
        badge.textContent = names[one.state];
      }
    }
  }
}

async function lookForChanges() {
  if (document.hidden || !("version" in document.body.dataset)) return;
  try {
    const response = await fetch(`/changes.json?since=${version}`);
    if (!response.ok) return;
    const answer = await response.json();
    version = answer.version;
    show(answer);
  } catch { /* the server is away; the next decision says so */ }
}

// --- moving about ---

function move(by) {
  const wanted = current + by;
  if (!rows.length || wanted >= rows.length || (wanted < 0 && current >= 0)) follow(by > 0 ? "next" : "prev");
  else select(Math.max(wanted, 0));
}

function select(place) {
  rows[current]?.classList.remove("current");
  current = place;
  const row = rows[current];
  row.classList.add("current");
  row.querySelector("a.open").focus({ preventScroll: true });
  row.scrollIntoView({ block: "nearest" });
}

function follow(rel, otherwise) {
  const link = document.querySelector(`main a[rel=${rel}]`);
  if (link) location.assign(link.href);
  else if (otherwise) otherwise();
  else say(rel === "next" ? "This is the last one." : "This is the first one.");
}

const target = () => (page === "pair" ? document.getElementById("pair") : rows[current]);

function act(verdict) {
  const row = target();
  const button = row?.querySelector(`[data-verdict=${verdict}]`);
  if (button) button.click();
  else say(row ? "Not possible here." : "Press j to choose a row first.");
}

const KEYS = {
  j: () => move(1),
  k: () => move(-1),
  a: () => act("accept"),
  r: () => act("reject"),
  u: () => act("unsure"),
  n: () => act("no-match"),
  z: () => undo(),
  s: () => document.querySelector("[data-repeat]")?.click(),
  m() {
    if (page === "pair") {
      const place = document.getElementById("alternatives");
      (place?.querySelector("button, input") || place)?.focus();
    } else if (rows[current]) location.assign(`${rows[current].querySelector("a.open").href}#alternatives`);
  },
  "/": () => document.querySelector("input[type=search]")?.focus(),
  "?": () => document.getElementById("help-dialog").showModal(),
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  if (event.target.matches("input, select, textarea")) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  if (KEYS[event.key]) {
    event.preventDefault();
    KEYS[event.key]();
  }
});

for (const [place, row] of rows.entries()) {
  row.addEventListener("focusin", () => {
    if (place !== current) { rows[current]?.classList.remove("current"); current = place; row.classList.add("current"); }
  });
}

// --- buttons ---

document.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (!button) return;
  const data = button.dataset;
  const row = button.closest(".row");
  if (data.open) document.getElementById(data.open).showModal();
  else if ("close" in data) button.closest("dialog").close();
  else if ("undo" in data) undo(data.undo);
  else if (data.repeat) repeat(data.repeat);
  else if ("choose" in data) choose(data.left, data.right);
  else if (data.verdict) {
    const left = data.left ?? row.dataset.left;
    const right = data.right ?? row.dataset.right;
    decide([{ left, right, verdict: data.verdict }], row);
  }
});

// Accepts another pair; the link that the run had for the entity is rejected with it.
function choose(left, right) {
  const shown = document.getElementById("pair").dataset;
  const claims = [{ left, right, verdict: "accept" }];
  if (shown.link) claims.push({ left: shown.left, right: shown.right, verdict: "reject" });
  decide(claims, null);
}

document.getElementById("who-form").addEventListener("submit", async (event) => {
  if (await ask("/reviewer", { reviewer: event.target.elements.reviewer.value })) location.reload();
});

// --- any other entity ---

for (const form of document.querySelectorAll("form.find")) {
  const list = form.querySelector("ul");
  const { side, own } = form.dataset;
  let asked = "";
  const look = async () => {
    const text = form.elements.text.value.trim();
    if (text === asked) return;
    asked = text;
    const answer = text ? await (await fetch(`/search.json?${new URLSearchParams({ side, text })}`)).json() : { entities: [] };
    if (text !== asked) return;
    list.replaceChildren(...(answer.entities || []).map((one) => {
      const item = document.createElement("li");
      const name = document.createElement("span");
      name.textContent = one.name || one.uri;
      name.title = one.uri;
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = "Choose";
      button.setAttribute("aria-label", `Choose ${name.textContent}`);
      Object.assign(button.dataset, { choose: "", left: side === "left" ? one.uri : own, right: side === "left" ? own : one.uri });
      item.append(name, button);
      return item;
    }));
  };
  form.addEventListener("submit", (event) => { event.preventDefault(); look(); });
  form.elements.text.addEventListener("input", () => { clearTimeout(look.timer); look.timer = setTimeout(look, 200); });
}

for (const choice of document.querySelectorAll(".filters select")) {
  choice.addEventListener("change", () => choice.form.requestSubmit());
}
if (location.hash === "#alternatives") KEYS.m();
if (sessionStorage.getItem("note")) tell(JSON.parse(sessionStorage.getItem("note")));
setInterval(lookForChanges, 4000);
if (document.querySelector("[data-wait]")) setTimeout(() => location.reload(), 10000);
