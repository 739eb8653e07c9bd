--- The messages of sallyport/*, as docs/PROTOCOL.md has them; server/wire is the same in Go. Nothing but shapes is here.
--- `M.shapes` names the fields of each message, so that the examples of testdata/wire can be held against them.
local M = {}

---@class (exact) sallyport.Posture
---@field reads "enforced"|"mediated"|"observed"
---@field writes "enforced"|"mediated"|"observed"
---@field commands "enforced"|"mediated"|"observed"
---@field sentence string

---@class (exact) sallyport.ModeInfo
---@field id string
---@field meaning? string

---@class (exact) sallyport.Info
---@field sessionId string
---@field agentSessionId string
---@field agent string harness id
---@field cwd string
---@field mode string
---@field modes sallyport.ModeInfo[]
---@field agentOffer? table the agent's answer to session/new (ACP v1)
---@field capabilities table<string, boolean>
---@field posture sallyport.Posture
---@field taint? table[] untrusted content that was taken in: kind, source, time
---@field busy boolean

---@class (exact) sallyport.UpdateParams
---@field sessionId string
---@field turnId string empty outside a turn
---@field replay boolean history told by session/load
---@field update table an ACP session/update

---@class (exact) sallyport.Notice
---@field sessionId? string
---@field turnId? string
---@field kind string
---@field level "info"|"warning"|"error"
---@field text string
---@field hint? string
---@field paths? string[]

---@class (exact) sallyport.Option
---@field optionId string
---@field name string
---@field kind string "allow_once", "allow_always", "reject_once", "reject_always"
---@field rule? string what is kept when it is picked, the name says it

---@class (exact) sallyport.Diff
---@field path string
---@field oldText? string absent or vim.NIL: nothing was there, or the agent did not say
---@field newText string

---@class (exact) sallyport.Card
---@field permissionId string
---@field sessionId string
---@field turnId string
---@field title string
---@field request table id, kind, tool, input
---@field options sallyport.Option[]
---@field diffs sallyport.Diff[]
---@field paths string[]
---@field toolCall? table
---@field reason? string
---@field deciding? boolean deciders are asked: call nobody, an answer counts; sallyport.Called or Settled follows

---@class (exact) sallyport.Called no decider settled a card that was being decided
---@field permissionId string
---@field sessionId string
---@field reason? string

---@class (exact) sallyport.Settled
---@field permissionId string
---@field sessionId string
---@field turnId string
---@field title string
---@field request table
---@field outcome { allowed: boolean, optionId?: string, by: string, name?: string, why?: string, delayMs: integer }

---@class (exact) sallyport.Position
---@field line integer 0-based
---@field character integer 0-based, in code units of the client's position encoding

---@class (exact) sallyport.Edit
---@field range { start: sallyport.Position, ["end"]: sallyport.Position }
---@field newText string

---@class (exact) sallyport.ApplyParams
---@field uri string
---@field version integer
---@field hash string "sha256:" and hex, of the text before the edits
---@field edits sallyport.Edit[] last to first
---@field save boolean
---@field label string
---@field disk? "holds"|"takenIn" somebody else wrote the file: it holds what the edits make, or they take in what it became

---@class (exact) sallyport.ApplyResult
---@field status "applied"|"stale"|"closed"|"readOnly"
---@field version integer
---@field hash? string
---@field saved boolean
---@field message? string

---@class (exact) sallyport.TurnResult
---@field turnId string
---@field stopReason string
---@field agentStopReason? string
---@field usage? table
---@field changes? table[] as on the receipt: root, path, kind, by, before, after
---@field changed? integer how many there are
---@field undoable? boolean
---@field verifier? table[] name, outcome, why

--- What this plugin can do, for initializationOptions.sallyport.features.
M.features = { "update", "join", "notice", "permission", "apply", "context", "unsaved", "deciding" }

--- Fields of the params and results that the plugin reads or writes, by method; a trailing "?" marks one that may be absent.
---@type table<string, { params?: string[], result?: string[] }>
M.shapes = {
  ["sallyport/session/update"] = { params = { "sessionId", "turnId", "replay", "update" } },
  ["sallyport/session/notice"] = {
    params = { "sessionId?", "turnId?", "kind", "level", "text", "hint?", "paths?" },
  },
  ["sallyport/permission"] = {
    params = {
      "permissionId",
      "sessionId",
      "turnId",
      "title",
      "request",
      "options",
      "diffs",
      "paths",
      "toolCall",
      "reason?",
      "deciding?",
    },
    result = { "optionId" },
  },
  ["sallyport/permission/call"] = { params = { "permissionId", "sessionId", "reason?" } },
  ["sallyport/permission/settled"] = {
    params = { "permissionId", "sessionId", "turnId", "title", "request", "outcome" },
  },
  ["sallyport/document/apply"] = {
    params = { "uri", "version", "hash", "edits", "save", "label", "disk?" },
    result = { "status", "version", "hash?", "saved", "message?" },
  },
  ["sallyport/document/context"] = { params = { "sessionId?" }, result = { "active?", "visible", "diagnostics" } },
  ["sallyport/session/unsaved"] = { params = { "sessionId", "documents", "choices" }, result = { "choice" } },
  ["sallyport/session/new"] = {
    params = { "agent?", "cwd?", "additionalDirectories?", "mode?", "mcpServers?" },
    result = {
      "sessionId",
      "agentSessionId",
      "agent",
      "cwd",
      "mode",
      "modes",
      "agentOffer?",
      "capabilities",
      "posture",
      "taint?",
      "busy",
    },
  },
  ["sallyport/turn/list"] = { params = { "cwd?", "limit?" }, result = { "turns" } },
  ["sallyport/turn/show"] = { params = { "turnId?", "cwd?" }, result = { "turn", "files" } },
  ["sallyport/turn/undo"] = {
    params = { "turnId?", "cwd?", "sessionId?", "paths?", "dryRun?", "force?" },
    result = { "turnId?", "of", "done", "conflicts", "already", "dryRun?", "diffs?" },
  },
  ["sallyport/session/prompt"] = {
    params = { "sessionId", "prompt", "context?" },
    result = {
      "turnId",
      "stopReason",
      "agentStopReason?",
      "usage?",
      "changes?",
      "changed?",
      "undoable?",
      "verifier?",
    },
  },
}

return M
