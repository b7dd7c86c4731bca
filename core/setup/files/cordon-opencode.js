// Written by `cordon install`; `cordon uninstall` removes it.
// Before a tool runs, cordon says what will not work in its sandbox and what to do instead. It is told where a turn
// begins and an edit ends, which names the steps of its history, and when a question waits for its user.
// What its user undid, denied or stopped is added to what the next tool returns.
import { spawnSync } from "node:child_process"

const call = (event) => spawnSync("cordon", ["hook", "--agent", "opencode"], { input: JSON.stringify(event), encoding: "utf8" })

export const Cordon = async ({ directory }) => {
  const inputs = new Map()
  return {
    "tool.execute.before": async (input, output) => {
      inputs.set(input.callID, output.args)
      const said = call({ hook_event_name: "PreToolUse", cwd: directory, tool_name: input.tool, tool_input: output.args })
      if (said.status === 2) throw new Error(said.stderr.trim())
    },
    "tool.execute.after": async (input, output) => {
      const args = inputs.get(input.callID)
      inputs.delete(input.callID)
      const said = call({ hook_event_name: "PostToolUse", cwd: directory, tool_name: input.tool, tool_input: args ?? {} })
      if (said.status === 0 && said.stdout && output) output.output = `${output.output ?? ""}\n\n${said.stdout.trim()}`
    },
    event: async ({ event }) => {
      if (event.type === "permission.asked" || event.type === "permission.updated")
        call({ hook_event_name: "PermissionRequest", cwd: directory })
      if (event.type === "session.idle") call({ hook_event_name: "Stop", cwd: directory })
    },
    "chat.message": async (input, output) => {
      const text = (output.parts ?? []).map((part) => part.text ?? "").join(" ")
      call({ hook_event_name: "UserPromptSubmit", cwd: directory, prompt: text })
    },
  }
}
