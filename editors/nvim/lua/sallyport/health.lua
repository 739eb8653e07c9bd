--- :checkhealth sallyport
local M = {}

local health = vim.health

---@param cmd string[]
---@return string? output
local function output(cmd)
  local ok, done = pcall(function()
    return vim.system(cmd, { text = true }):wait(20000)
  end)
  return ok and done.code == 0 and done.stdout or nil
end

---@param program string
local function agents(program)
  local raw = output({ program, "agents", "--json" })
  local ok, list = pcall(vim.json.decode, raw or "")
  if not ok or type(list) ~= "table" then
    return health.warn(
      "`" .. program .. " agents --json` gives no list",
      { "run `" .. program .. " doctor` in a terminal" }
    )
  end
  local any
  for _, a in ipairs(list.external_agents or {}) do
    if a.available then
      any = true
      health.ok(("%s: %s"):format(a.name, a.program or "available"))
    else
      health.info(
        ("%s: %s%s"):format(
          a.name,
          (a.problem or "not available"):gsub("^" .. vim.pesc(a.name) .. " ", ""),
          a.fix and ("; `" .. a.fix .. "`") or ""
        )
      )
    end
  end
  if not any then
    health.warn("no agent is available", { "run `" .. program .. " doctor`: it names a line that installs each one" })
  end
end

function M.check()
  health.start("sallyport")
  if vim.fn.has("nvim-0.10") == 0 then
    health.error("Neovim is too old", { "install Neovim 0.10 or newer" })
    return
  end
  health.ok("Neovim " .. tostring(vim.version()))
  local config = require("sallyport.config").get()
  local program = config.cmd[1]
  if vim.fn.executable(program) == 0 then
    health.error(("%s is not on PATH"):format(program), {
      "build it: `go install ./cmd/sallyport` in a checkout of Sallyport",
      'or name it: `require("sallyport").setup({ cmd = { "/path/to/sallyport", "serve" } })`',
    })
    return
  end
  local version = output({ program, "version" })
  if version then
    health.ok(vim.trim(version))
  else
    health.error("`" .. program .. " version` fails", { "run it in a terminal to see why" })
    return
  end
  agents(program)
  local c = require("sallyport.client").client()
  if c then
    health.ok("the server runs, positions are " .. c.offset_encoding)
  else
    health.info("the server is not running; the first `:Sallyport` starts it")
  end
end

return M
