-- What the server sends of two permissions that deciders are asked about, and of their end.
local session = require("sallyport.session")
local card = require("sallyport.card")

local function permission(id, command, rest)
  return vim.tbl_extend("error", {
    permissionId = id,
    sessionId = "s1",
    turnId = "t1",
    title = command,
    request = { id = id, kind = "command", tool = "Bash", input = { command = command } },
  }, rest)
end

local asked = {
  deciding = true,
  options = {
    { optionId = "once", name = "Allow", kind = "allow_once" },
    { optionId = "no", name = "Reject", kind = "reject_once" },
  },
  diffs = {},
  paths = {},
}

require("sallyport.view").open(session.opened({ sessionId = "s1", agent = "scripted", modes = {}, capabilities = {} }))
for id, command in ipairs({ "npm test", "rm -rf build" }) do
  coroutine.wrap(card.ask)(permission("p" .. id, command, asked))
end
vim.cmd.redraw()

function _G.settle()
  card.settled(permission("p1", "npm test", { outcome = { allowed = true, by = "decider", name = "Team rules" } }))
  card.settled(permission("p2", "rm -rf build", {
    outcome = { allowed = false, by = "decider", name = "Team rules", why = "no rm -rf here" },
  }))
end
