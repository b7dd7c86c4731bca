// Written by `cordon install`; `cordon uninstall` removes it.
// Before a tool runs, cordon says what will not work in its sandbox and what to do instead.
import { spawnSync } from "node:child_process"

export const Cordon = async ({ directory }) => ({
  "tool.execute.before": async (input, output) => {
    const event = { hook_event_name: "PreToolUse", cwd: directory, tool_name: input.tool, tool_input: output.args }
    const said = spawnSync("cordon", ["hook", "--agent", "opencode"], { input: JSON.stringify(event), encoding: "utf8" })
    if (said.status === 2) throw new Error(said.stderr.trim())
  },
})
