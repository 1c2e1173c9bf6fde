// The views: seven entries of the navigation, the others as tabs inside them. The modules of a view are loaded when it is opened.

const view = (name, title, group, load, more = {}) => ({ name, title, group, load, ...more });

/** name in the address, title, the entry that it belongs to, and the module that draws it; `one`: reached by links alone. */
export const VIEWS = [
  view("home", "Home", "home", () => import("./views/home.js")),
  view("ask", "Ask", "ask", () => import("./views/ask.js")),
  view("activity", "Activity", "activity", () => import("./views/activity.js")),
  view("operations", "Background work", "activity", () => import("./views/operations.js")),
  view("costs", "Costs", "activity", () => import("./views/costs.js")),
  view("facts", "Facts", "facts", () => import("./views/facts.js")),
  view("timeline", "Timeline", "facts", () => import("./views/timeline.js")),
  view("documents", "Conversations", "facts", () => import("./views/documents.js")),
  view("opinions", "Opinions", "facts", () => import("./views/opinions.js")),
  view("models", "Mental models", "facts", () => import("./views/models.js")),
  view("people", "People", "people", () => import("./views/people.js")),
  view("review", "Review", "review", () => import("./views/review.js")),
  view("settings", "Settings", "settings", () => import("./views/settings.js")),
  view("directives", "Directives", "settings", () => import("./views/directives.js")),
  view("transfer", "Import and export", "settings", () => import("./views/transfer.js")),
  view("health", "Health", "settings", () => import("./views/health.js")),
  view("fact", "Fact", "facts", () => import("./views/fact.js"), { one: true }),
  view("entity", "Person or thing", "people", () => import("./views/entity.js"), { one: true }),
];

/** The entries of the navigation, in order. */
export const ENTRIES = VIEWS.filter((one) => one.name === one.group);

/** The views that share an entry, as its tabs; none where it has one alone. */
export function tabsOf(group) {
  const tabs = VIEWS.filter((one) => one.group === group && !one.one);
  return tabs.length > 1 ? tabs : [];
}
