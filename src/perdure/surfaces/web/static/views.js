// The views, in the order of the list at the side. The modules of a view are loaded when it is opened.

/** name in the address, title, sign beside it, group in the list (none: reached by links alone), and the module that draws it. */
export const VIEWS = [
  { name: "ask", title: "Ask", sign: "?", group: "Memory", load: () => import("./views/ask.js") },
  { name: "facts", title: "Facts", sign: "≡", group: "Memory", load: () => import("./views/facts.js") },
  { name: "people", title: "People and things", sign: "☺", group: "Memory", load: () => import("./views/people.js") },
  { name: "opinions", title: "Opinions", sign: "◐", group: "Memory", load: () => import("./views/opinions.js") },
  { name: "questions", title: "Questions", sign: "‽", group: "Memory", load: () => import("./views/questions.js") },
  { name: "models", title: "Mental models", sign: "◈", group: "Knowledge", load: () => import("./views/models.js") },
  { name: "directives", title: "Directives", sign: "§", group: "Knowledge", load: () => import("./views/directives.js") },
  { name: "notes", title: "Notes", sign: "✎", group: "Knowledge", load: () => import("./views/notes.js") },
  { name: "documents", title: "Documents", sign: "▤", group: "Sources", load: () => import("./views/documents.js") },
  { name: "operations", title: "Operations", sign: "↻", group: "Sources", load: () => import("./views/operations.js") },
  { name: "costs", title: "Costs", sign: "¤", group: "Bank", load: () => import("./views/costs.js") },
  { name: "settings", title: "Settings", sign: "⚙", group: "Bank", load: () => import("./views/settings.js") },
  { name: "health", title: "Health", sign: "♥", group: "Bank", load: () => import("./views/health.js") },
  { name: "transfer", title: "Import and export", sign: "⇅", group: "Bank", load: () => import("./views/transfer.js") },
  { name: "fact", title: "Fact", sign: "", group: "", load: () => import("./views/fact.js") },
  { name: "entity", title: "Person or thing", sign: "", group: "", load: () => import("./views/entity.js") },
];
