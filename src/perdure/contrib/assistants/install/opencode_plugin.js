// Written by `perdure install opencode`; removed by `perdure install opencode --uninstall`.
import { spawn } from "node:child_process"

/** Runs one hook; resolves to what the assistant is to be told, "" for nothing or on any failure. */
function hook(event, input) {
  return new Promise((resolve) => {
    let output = ""
    try {
      const child = spawn(PROGRAM, ["hook", event, ARGUMENTS], { stdio: ["pipe", "pipe", "ignore"] })
      const timer = setTimeout(() => child.kill(), 2000)
      child.on("error", () => { clearTimeout(timer); resolve("") })
      child.on("close", () => {
        clearTimeout(timer)
        try { resolve(JSON.parse(output).context || "") } catch { resolve("") }
      })
      child.stdout.on("data", (part) => { output += part })
      child.stdin.on("error", () => {})
      child.stdin.end(JSON.stringify(input))
    } catch { resolve("") }
  })
}

const words = (parts) => parts.filter((part) => part.type === "text" && !part.synthetic).map((part) => part.text).join("\n")

export const Perdure = async ({ client, directory }) => {
  const told = new Map() // session -> what was recalled for its last prompt
  const started = new Map() // session -> what was told at its start
  return {
    "chat.message": async ({ sessionID }, { parts }) => {
      const session = { sessionID, directory }
      if (!started.has(sessionID)) started.set(sessionID, await hook("session-start", { ...session, source: "startup" }))
      told.set(sessionID, await hook("prompt", { ...session, prompt: words(parts) }))
    },
    "experimental.chat.system.transform": async ({ sessionID }, output) => {
      for (const text of [started.get(sessionID), told.get(sessionID)]) if (text) output.system.push(text)
    },
    event: async ({ event }) => {
      if (event.type !== "session.idle") return
      const sessionID = event.properties.sessionID
      const { data } = await client.session.messages({ path: { id: sessionID } }).catch(() => ({ data: [] }))
      const last = (data || []).filter((message) => message.info.role === "assistant").pop()
      await hook("stop", { sessionID, directory, last_assistant_message: last ? words(last.parts) : "" })
    },
  }
}
