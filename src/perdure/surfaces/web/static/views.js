// The views, in the order of the list at the side.

import { open as ask } from "./views/ask.js";
import { open as costs } from "./views/costs.js";
import { open as directives } from "./views/directives.js";
import { open as documents } from "./views/documents.js";
import { open as entity } from "./views/entity.js";
import { open as fact } from "./views/fact.js";
import { open as facts } from "./views/facts.js";
import { open as health } from "./views/health.js";
import { open as models } from "./views/models.js";
import { open as notes } from "./views/notes.js";
import { open as operations } from "./views/operations.js";
import { open as opinions } from "./views/opinions.js";
import { open as people } from "./views/people.js";
import { open as questions } from "./views/questions.js";
import { open as settings } from "./views/settings.js";
import { open as transfer } from "./views/transfer.js";

/** name in the address, title, sign beside it, group in the list (none: reached by links alone), and what draws it. */
export const VIEWS = [
  { name: "ask", title: "Ask", sign: "?", group: "Memory", open: ask },
  { name: "facts", title: "Facts", sign: "≡", group: "Memory", open: facts },
  { name: "people", title: "People and things", sign: "☺", group: "Memory", open: people },
  { name: "opinions", title: "Opinions", sign: "◐", group: "Memory", open: opinions },
  { name: "questions", title: "Questions", sign: "‽", group: "Memory", open: questions },
  { name: "models", title: "Mental models", sign: "◈", group: "Knowledge", open: models },
  { name: "directives", title: "Directives", sign: "§", group: "Knowledge", open: directives },
  { name: "notes", title: "Notes", sign: "✎", group: "Knowledge", open: notes },
  { name: "documents", title: "Documents", sign: "▤", group: "Sources", open: documents },
  { name: "operations", title: "Operations", sign: "↻", group: "Sources", open: operations },
  { name: "costs", title: "Costs", sign: "¤", group: "Bank", open: costs },
  { name: "settings", title: "Settings", sign: "⚙", group: "Bank", open: settings },
  { name: "health", title: "Health", sign: "♥", group: "Bank", open: health },
  { name: "transfer", title: "Import and export", sign: "⇅", group: "Bank", open: transfer },
  { name: "fact", title: "Fact", sign: "", group: "", open: fact },
  { name: "entity", title: "Person or thing", sign: "", group: "", open: entity },
];
