// Keys, decisions without a page load, and what others decide meanwhile. Without it, pages work as
// links and forms.
"use strict";

const names = { open: "open", accept: "accepted", reject: "rejected", unsure: "unsure", "no-match": "no match", conflict: "conflict", changed: "changed" };
const similar = { broad: "not the same, broader", narrow: "not the same, narrower", related: "not the same, related" };
const said = { same: "all the same", different: "all different", split: "split off", join: "joined", unsure: "unsure" };
const one = (selector, root = document) => root.querySelector(selector);
const all = (selector, root = document) => [...root.querySelectorAll(selector)];
let page = document.body.dataset.page;
let rows = [];
let current = -1;
let version = Number(document.body.dataset.version || 0);
let wasRunning = false;

function say(text, bad = false) {
  const place = one("#message");
  place.textContent = text;
  place.classList.toggle("bad", bad);
  clearTimeout(say.timer);
  if (!bad) say.timer = setTimeout(() => { place.textContent = ""; }, 5000);
}

// What was saved; offers the same for links with the same names.
function tell(note) {
  say(note.text);
  if (!note.alike) return;
  clearTimeout(say.timer);
  const button = document.createElement("button");
  button.type = "button";
  button.dataset.repeat = note.request;
  const more = note.alike > 1 ? `${note.alike.toLocaleString("en")} others` : "another";
  button.textContent = `The same for ${more} with the same ${note.alone ? "name" : "two names"} (s)`;
  one("#message").append(" ", button);
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

// Decisions of this window that can be undone: the request, what it was about, and its page.
const kept = (name) => JSON.parse(sessionStorage.getItem(name) || "[]");
const keep = (name, values) => sessionStorage.setItem(name, JSON.stringify(values.slice(-200)));

async function save(path, values, about) {
  const answer = await ask(path, values, "Not saved: ");
  if (answer) keep("requests", [...kept("requests"), { request: values.request, ...about }]);
  return answer;
}

// Where a row or the page of a pair is found again.
function placeOf(row) {
  const { left = "", right = "", names: text = "" } = row?.dataset ?? {};
  const link = row && one("a.open", row);
  return { left, right, text, cluster: row?.dataset.cluster ?? "", url: link ? link.href : location.href };
}

async function decide(claims, row) {
  if (!document.body.dataset.reviewer) {
    one("#who-dialog").showModal();
    return;
  }
  const request = newRequest();
  const about = placeOf(row ?? target());
  const wasOpen = claims.length === 1 && one(".state", row ?? target())?.classList.contains("open");
  const answer = await save("/decide", { request, claims }, about);
  if (!answer) return;
  const what = claims.map((claim) => similar[claim.predicate] ?? names[claim.verdict]).join(", ");
  const note = { text: `${about.text || "Saved"}: ${what}. Saved; z undoes it.`, request, alike: answer.alike, alone: claims[0].verdict === "no-match" };
  const left = shownLeft() - (wasOpen ? 1 : 0);
  if (page === "pair") {
    const next = one("main a[rel=next]");
    if (next) {
      await visit(next.href, { trail: true });
      showLeft(left);
    } else await visit(location.href, { fresh: true });
    show(answer);
    tell(note);
    return;
  }
  showLeft(left);
  tell(note);
  if (row && rows[current] === row) await move(1);
}

function claimOf(button, row) {
  const data = button.dataset;
  const comment = one("[name=comment]", row)?.value.trim() ?? "";
  const claim = { left: data.left ?? row.dataset.left, right: data.right ?? row.dataset.right, comment };
  if (data.relation) return { ...claim, verdict: "reject", predicate: data.relation };
  return { ...claim, verdict: data.verdict };
}

// The same decision about all links with the same two names.
async function repeat(of) {
  const answer = await save("/repeat", { request: newRequest(), of }, { text: "links with the same names" });
  if (answer) say(`Saved for ${answer.states.length.toLocaleString("en")} more. Press z to undo all of them.`);
}

// Undoes a decision, names what it was about, and goes back to it.
async function undo(request) {
  const requests = kept("requests");
  const last = request ? requests.find((each) => each.request === request) ?? { request } : requests[requests.length - 1];
  if (!last) {
    say("Nothing of this window is left to undo; the page Decisions has all.");
    return;
  }
  if (!(await ask("/undo", { request: last.request }))) return;
  keep("requests", requests.filter((each) => each.request !== last.request));
  const text = last.cluster ? `Undone: the decision about ${last.text || "the cluster"}.` : `Undone: ${last.text || "the decision"} is open again.`;
  if (page === "decisions") {
    location.reload();
  } else if (isDetail()) {
    await visit(last.url ?? location.href, { fresh: true });
  } else {
    const place = rows.findIndex((row) => (last.cluster ? row.dataset.cluster === last.cluster : row.dataset.left === last.left && row.dataset.right === last.right));
    if (place >= 0) select(place);
  }
  say(text);
}

// --- what is shown ---

function show(answer) {
  for (const state of answer.states || []) {
    for (const badge of all("[data-state-left]")) {
      if (badge.dataset.stateLeft === state.left && badge.dataset.stateRight === state.right) {
        badge.className = `state ${state.state}`;
        badge.textContent = names[state.state];
      }
    }
  }
  for (const badge of answer.clusters ? all("[data-state-cluster]") : []) {
    const state = answer.clusters[badge.dataset.stateCluster] ?? "open";
    badge.className = `state ${state}`;
    badge.textContent = names[state];
  }
  if (answer.progress) {
    for (const place of all("[data-progress]")) place.textContent = answer.progress.text;
    for (const bar of all(".progress progress")) bar.value = answer.progress.decided;
  }
}

const shownLeft = () => Number(one("[data-left-in-filter]")?.dataset.leftInFilter ?? 0);

function showLeft(count) {
  const place = one("[data-left-in-filter]");
  if (!place) return;
  const text = Math.max(count, 0).toLocaleString("en");
  place.dataset.leftInFilter = Math.max(count, 0);
  place.textContent = text;
  const bulk = one("#all-form");
  if (!bulk || bulk.elements.status.value !== "open") return;
  bulk.elements.count.value = Math.max(count, 0);
  for (const number of all("[data-to-decide]")) number.textContent = text;
}

async function lookForChanges() {
  if (document.hidden || !("version" in document.body.dataset)) return;
  try {
    const response = await fetch(`/changes.json?since=${version}`);
    if (!response.ok) return;
    const answer = await response.json();
    version = answer.version;
    if (!("blind" in document.body.dataset)) show(answer);
    one("#here").textContent = answer.here.length > 1 ? `Here: ${answer.here.join(", ")}` : "";
    showAgain(answer.again);
  } catch { /* the server is away; the next decision says so */ }
}

function showAgain(again) {
  const place = one("#again");
  if (place) {
    place.textContent = again.text;
    one("#again-form button").disabled = again.running;
  }
  if (wasRunning && !again.running) {
    known.clear();
    say(again.text);
    clearTimeout(say.timer);
  }
  wasRunning = again.running;
}

// --- pages without loading them ---

const known = new Map();

function fetched(url) {
  if (!known.has(url)) {
    if (known.size > 20) known.clear();
    known.set(url, fetch(url).then((response) => (response.ok ? response.text() : null)).catch(() => null));
  }
  return known.get(url);
}

async function documentAt(url) {
  const text = await fetched(url);
  known.delete(url);
  return text === null ? null : new DOMParser().parseFromString(text, "text/html");
}

// Shows another pair in this page; the next one is loaded beforehand.
async function visit(url, { trail = false, fresh = false, push = true } = {}) {
  if (fresh) known.delete(url);
  const found = await documentAt(url);
  if (!found) {
    location.assign(url);
    return;
  }
  if (trail) keep("trail", [...kept("trail"), location.href]);
  if (push && url !== location.href) history.pushState(null, "", url);
  one("main").replaceWith(document.adoptNode(one("main", found)));
  document.title = found.title;
  Object.assign(document.body.dataset, { page: found.body.dataset.page });
  document.body.toggleAttribute("data-blind", "blind" in found.body.dataset);
  window.scrollTo(0, 0);
  begin();
  one("main").focus({ preventScroll: true });
}

// Adds the next page of the list to it.
async function extend() {
  const next = one("main a[rel=next]");
  const found = next && await documentAt(next.href);
  const more = found ? all(".rows .row", found) : [];
  if (!more.length) return false;
  one(".rows").append(...more.map((row) => document.adoptNode(row)));
  one(".paging").replaceWith(document.adoptNode(one(".paging", found)));
  begin();
  return true;
}

window.addEventListener("popstate", () => {
  if (isDetail()) visit(location.href, { push: false, fresh: true });
  else location.reload();
});

// --- moving about ---

const isDetail = () => page === "pair" || page === "cluster";

async function move(by) {
  if (isDetail()) {
    const trail = kept("trail");
    const link = one(`main a[rel=${by > 0 ? "next" : "prev"}]`);
    if (by < 0 && trail.length) {
      keep("trail", trail.slice(0, -1));
      await visit(trail[trail.length - 1], { fresh: true });
    } else if (link) await visit(link.href, { trail: by > 0 });
    else say(by > 0 ? "This is the last one." : "This is the first one.");
    return;
  }
  const wanted = current + by;
  if (wanted < rows.length && (wanted >= 0 || current < 0) && rows.length) select(Math.max(wanted, 0));
  else if (by > 0 && await extend()) select(wanted);
  else if (by < 0 && one("main a[rel=prev]")) location.assign(one("main a[rel=prev]").href);
  else say(by > 0 ? "This is the last one." : "This is the first one.");
}

function select(place) {
  rows[current]?.classList.remove("current");
  current = place;
  const row = rows[current];
  row.classList.add("current");
  one("a.open", row).focus({ preventScroll: true });
  row.scrollIntoView({ block: "nearest" });
}

const target = () => (isDetail() ? one("#pair, #cluster") : rows[current]);

function act(verdict) {
  if (page === "clusters" || page === "cluster") {
    const action = { accept: "same", reject: "different", unsure: "unsure" }[verdict];
    const row = target();
    if (!action) return say("Not possible here.");
    return row ? decideCluster(action, action === "same" ? chosenMembers() : [], row) : say("Press j to choose a row first.");
  }
  if (picked().length && ["accept", "reject", "unsure"].includes(verdict)) return decideSelected(verdict);
  const row = target();
  const button = row && one(`[data-verdict=${verdict}], [data-relation=${verdict}]`, row);
  if (button) return decide([claimOf(button, row)], page === "pair" ? null : row);
  return say(row ? "Not possible here." : "Press j to choose a row first.");
}

// --- clusters ---

const boxes = () => all(".choose-member");
const chosenMembers = () => boxes().filter((box) => box.checked).map((box) => box.value);
const columns = () => all("th.member[tabindex]");

// Says something about a cluster; what follows from it is shown, and it is one decision to undo.
async function decideCluster(action, members, row) {
  if (!document.body.dataset.reviewer) {
    one("#who-dialog").showModal();
    return;
  }
  const about = placeOf(row);
  const wasOpen = one(".state", row)?.classList.contains("open");
  const comment = one("[name=comment]", row)?.value.trim() ?? "";
  const sent = { request: newRequest(), cluster: row.dataset.cluster, action, members, comment };
  const answer = await save("/decide-cluster", sent, about);
  if (!answer) return;
  const text = `${about.text}: ${said[action]}. Saved; z undoes it.`;
  const left = shownLeft() - (wasOpen ? 1 : 0);
  const stays = action === "split" || action === "join" || (action === "same" && members.length);
  if (page === "clusters") {
    showLeft(left);
    say(text);
    if (rows[current] === row) await move(1);
    return;
  }
  const next = one("main a[rel=next]");
  if (next && !stays) {
    await visit(next.href, { trail: true });
    showLeft(left);
  } else await visit(location.href, { fresh: true });
  show(answer);
  say(answer.problems.length ? answer.problems[0] : text, answer.problems.length > 0);
}

function stepMember(by) {
  const found = columns();
  if (!found.length) return;
  const place = found.indexOf(document.activeElement?.closest("th.member"));
  found[place < 0 ? 0 : Math.min(Math.max(place + by, 0), found.length - 1)].focus();
}

function toggleMember(column) {
  const box = column && one(".choose-member", column);
  if (box) box.checked = !box.checked;
  showChosen();
}

function showChosen() {
  const numbers = new Set();
  for (const box of boxes()) {
    const column = box.closest("th");
    column.classList.toggle("chosen", box.checked);
    if (box.checked) numbers.add(column.dataset.number);
  }
  for (const node of all("[data-node]")) node.classList.toggle("chosen", numbers.has(node.dataset.node));
}

function chooseWeakest() {
  const weak = new Set((one("#cluster")?.dataset.split ?? "").split(" "));
  for (const box of boxes()) box.checked = weak.has(box.closest("th").dataset.number);
  showChosen();
}

function splitChosen() {
  const members = chosenMembers();
  if (!members.length) return say("Select members first: ← and → move, x selects.");
  return decideCluster("split", members, one("#cluster"));
}

function takeOut(uri) {
  const member = uri ?? document.activeElement?.closest("th.member")?.dataset.member;
  if (!member) return say("Choose a member first: ← and → move.");
  return decideCluster("split", [member], one("#cluster"));
}

// --- several at once ---

const picked = () => rows.filter((row) => one(".pick", row)?.checked);

function showSelection() {
  const place = one(".selection");
  if (!place) return;
  const count = picked().length;
  place.hidden = !count;
  one("[data-selected]", place).textContent = `${count} selected`;
}

function confirmed(question) {
  const dialog = one("#confirm-dialog");
  one("h2", dialog).textContent = question;
  dialog.returnValue = "";
  dialog.showModal();
  return new Promise((done) => {
    dialog.addEventListener("close", () => done(dialog.returnValue === "yes"), { once: true });
  });
}

async function decideSelected(verdict) {
  const chosen = picked();
  if (chosen.length > 200) {
    say("At most 200 links can be selected at once.", true);
    return;
  }
  const text = `${chosen.length} selected ${chosen.length > 1 ? "links" : "link"}`;
  if (!(await confirmed(`Mark ${text} as ${names[verdict]}?`))) return;
  const claims = chosen.map((row) => ({ left: row.dataset.left, right: row.dataset.right, verdict }));
  const answer = await save("/decide", { request: newRequest(), claims }, { ...placeOf(chosen[0]), text });
  if (!answer) return;
  for (const row of chosen) one(".pick", row).checked = false;
  showSelection();
  showLeft(shownLeft() - chosen.length);
  say(`${text}: ${names[verdict]}. Saved; z undoes all of them.`);
}

async function decideAll(form) {
  const values = Object.fromEntries(new FormData(form));
  const count = Number(values.count);
  const text = `all ${count.toLocaleString("en")} links of the filter`;
  if (!(await confirmed(`Mark ${text} as ${names[values.verdict]}?`))) return;
  delete values.back;
  const sent = { ...values, count, low: Number(values.low), high: Number(values.high), request: newRequest() };
  const answer = await save("/decide-all", sent, { text });
  if (!answer) return;
  showLeft(shownLeft() - count);
  one(".bulk").open = false;
  form.reset();
  say(`${text}: ${names[values.verdict]}. Saved; z undoes all of them.`);
}

// --- keys ---

const KEYS = {
  j: () => move(1),
  k: () => move(-1),
  a: () => act("accept"),
  r: () => act("reject"),
  u: () => act("unsure"),
  n: () => act("no-match"),
  b: () => act("broad"),
  w: () => (page === "cluster" ? chooseWeakest() : act("narrow")),
  l: () => act("related"),
  z: () => undo(),
  ArrowRight: () => stepMember(1),
  ArrowLeft: () => stepMember(-1),
  t: () => (page === "cluster" ? takeOut() : undefined),
  s: () => { if (page === "cluster") return splitChosen(); const { repeat: of } = one("[data-repeat]")?.dataset ?? {}; return of && repeat(of); },
  c: () => one("[name=comment]")?.focus(),
  x() {
    if (page === "cluster") {
      toggleMember(document.activeElement?.closest("th.member"));
      return;
    }
    const box = rows[current] && one(".pick", rows[current]);
    if (box) box.checked = !box.checked;
    showSelection();
  },
  m() {
    if (page === "cluster") one("#join input[type=search]")?.focus();
    else if (page === "pair") {
      const place = one("#alternatives");
      ((place && one("button, input", place)) || place)?.focus();
    } else if (rows[current]) location.assign(`${one("a.open", rows[current]).href}#alternatives`);
  },
  "/": () => one("input[type=search]")?.focus(),
  "?": () => one("#help-dialog").showModal(),
};
let busy = Promise.resolve();
const inTurn = (work) => { busy = busy.then(work).catch((error) => say(error.message, true)); };

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || one("dialog[open]")) return;
  if (event.target.matches("input:not([type=checkbox]), select, textarea")) {
    const isComment = event.target.name === "comment";
    if (event.key === "Escape" || (isComment && event.key === "Enter")) {
      event.preventDefault();
      event.target.blur();
    }
    return;
  }
  if (event.key.startsWith("Arrow") && page !== "cluster") return;
  let work = KEYS[event.key] ?? KEYS[event.key.toLowerCase()];  // as with Caps Lock
  if (page === "cluster" && /^[1-9]$/.test(event.key)) work = () => toggleMember(columns()[Number(event.key) - 1]);
  if (page === "cluster" && event.key === "Enter" && event.target.matches("th.member")) work = () => toggleMember(event.target);
  if (work) {
    event.preventDefault();
    inTurn(work);
  }
});

document.addEventListener("focusin", (event) => {
  const place = rows.indexOf(event.target.closest?.(".row"));
  if (place >= 0 && place !== current) {
    rows[current]?.classList.remove("current");
    current = place;
    rows[current].classList.add("current");
  }
});

// --- buttons ---

document.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (!button) return;
  const data = button.dataset;
  const row = button.closest(".row");
  let work;
  if (data.open) one(`#${data.open}`).showModal();
  else if ("close" in data) button.closest("dialog").close();
  else if (data.action) {
    const shown = row ?? one("#cluster");
    const members = page === "cluster" && ["same", "split"].includes(data.action) ? chosenMembers() : [];
    work = () => (data.action === "split" ? splitChosen() : decideCluster(data.action, members, shown));
  } else if (data.take) work = () => takeOut(data.take);
  else if ("weak" in data) work = chooseWeakest;
  else if (data.join) work = () => decideCluster("join", [data.join], one("#cluster"));
  else if ("undo" in data) work = () => undo(data.undo);
  else if (data.repeat) work = () => repeat(data.repeat);
  else if ("choose" in data) work = () => choose(data.left, data.right);
  else if (data.selection) work = () => decideSelected(data.selection);
  else if (data.selection === "") {
    for (const box of all(".pick")) box.checked = false;
    showSelection();
  } else if (data.verdict || data.relation) work = () => decide([claimOf(button, row)], page === "pair" ? null : row);
  if (work) {
    event.preventDefault();
    inTurn(work);
  }
});

document.addEventListener("change", (event) => {
  if (event.target.matches(".pick")) showSelection();
  else if (event.target.matches(".choose-member")) showChosen();
  else if (event.target.matches(".filters select")) event.target.form.requestSubmit();
});

// Accepts another pair; the link that the run had for the entity is rejected with it.
function choose(left, right) {
  const shown = one("#pair").dataset;
  const claims = [{ left, right, verdict: "accept" }];
  if (shown.link) claims.push({ left: shown.left, right: shown.right, verdict: "reject" });
  return decide(claims, null);
}

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.id === "who-form") {
    ask("/reviewer", { reviewer: form.elements.reviewer.value }).then((answer) => answer && location.reload());
  } else if (form.id === "all-form") {
    event.preventDefault();
    inTurn(() => decideAll(form));
  } else if (form.id === "again-form") {
    event.preventDefault();
    ask("/again", {}).then((answer) => answer && showAgain(answer));
  } else if (form.matches(".find")) event.preventDefault();
  else if (form.id === "cluster") event.preventDefault();
});

// --- any other entity ---

async function look(form) {
  const list = one("ul", form);
  const { side, own } = form.dataset;
  const text = form.elements.text.value.trim();
  if (text === form.dataset.asked) return;
  form.dataset.asked = text;
  const answer = text ? await (await fetch(`/search.json?${new URLSearchParams({ side, text })}`)).json() : { entities: [] };
  if (text !== form.dataset.asked) return;
  list.replaceChildren(...(answer.entities || []).map((each) => {
    const item = document.createElement("li");
    const name = document.createElement("span");
    name.textContent = each.name || each.uri;
    name.title = each.uri;
    const about = document.createElement("small");
    about.className = "quiet";
    about.textContent = [each.type, each.fact].filter(Boolean).join(" · ");
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = form.dataset.join ? "Join" : "Choose";
    const hidden = document.createElement("span");
    hidden.className = "hidden";
    hidden.textContent = ` ${name.textContent}`;
    button.append(hidden);
    if (form.dataset.join) button.dataset.join = each.uri;
    else Object.assign(button.dataset, { choose: "", left: side === "left" ? each.uri : own, right: side === "left" ? own : each.uri });
    item.append(name, about, button);
    return item;
  }));
}

document.addEventListener("input", (event) => {
  const form = event.target.closest(".find");
  if (!form) return;
  clearTimeout(look.timer);
  look.timer = setTimeout(() => look(form), 200);
});

// What belongs to the content of the page, and is done again when that changes.
function begin() {
  page = document.body.dataset.page;
  rows = all(".rows .row");
  const next = one("main a[rel=next]");
  if (next) fetched(next.href);
  showSelection();
  showChosen();
}

begin();
document.documentElement.classList.add("has-script");
if (!isDetail()) keep("trail", []);
if (location.hash === "#alternatives") KEYS.m();
lookForChanges();
setInterval(lookForChanges, 4000);
if (one("[data-wait]")) setTimeout(() => location.reload(), 10000);
