--- A Neovim of its own, driven as a user does: keys go in by nvim_input, everything else is asked over RPC.
local check = require("spec.check")

local M = {}
M.__index = M

local root = vim.fn.fnamemodify(debug.getinfo(1, "S").source:sub(2), ":p:h:h")

--- Starts one in the project, with the plugin and nothing else.
function M.start()
  local job = vim.fn.jobstart({
    vim.v.progpath,
    "--clean",
    "--embed",
    "--headless",
    "-n",
    "--cmd",
    "set runtimepath^=" .. vim.fn.escape(root, " ,\\"),
    "--cmd",
    "set columns=100 lines=30 hidden",
  }, { rpc = true, cwd = assert(vim.env.NVIM_PROJECT, "NVIM_PROJECT is missing") })
  local self = setmetatable({ job = job }, M)
  self:lua([[
    _G.notes = {}
    vim.notify = function(text, level) table.insert(_G.notes, { text = text, level = level or 2 }) end
    _G.events = {}
    vim.api.nvim_create_autocmd("User", { pattern = "Sallyport*", callback = function(e) table.insert(_G.events, e.match) end })
  ]])
  return self
end

--- Runs Lua in it; the arguments are "...".
function M:lua(code, ...)
  return vim.rpcrequest(self.job, "nvim_exec_lua", code, { ... })
end

--- Types keys.
function M:keys(keys)
  vim.rpcrequest(self.job, "nvim_input", keys)
end

function M:cmd(command)
  vim.rpcrequest(self.job, "nvim_command", command)
end

--- Waits until an expression of Lua is true in it.
function M:wait(what, code, ...)
  local args = { ... }
  local ok, err = pcall(check.wait, what, function()
    local got = self:lua("return " .. code, unpack(args))
    return got and got ~= vim.NIL
  end, 30000)
  if not ok then
    error(err .. "\n" .. self:state(), 2)
  end
end

--- What is in it, for a person who reads a failure.
function M:state()
  return self:lua([[
    local out = { "notes: " .. vim.inspect(_G.notes), "events: " .. vim.inspect(_G.events), "mode: " .. vim.inspect(vim.api.nvim_get_mode()) }
    for _, b in ipairs(vim.api.nvim_list_bufs()) do
      if vim.api.nvim_buf_is_loaded(b) then
        out[#out + 1] = "== " .. vim.api.nvim_buf_get_name(b) .. "\n" .. table.concat(vim.api.nvim_buf_get_lines(b, 0, -1, true), "\n")
      end
    end
    return table.concat(out, "\n")
  ]])
end

--- The text of the buffer of a file.
function M:text(name)
  return self:lua([[return table.concat(vim.api.nvim_buf_get_lines(vim.fn.bufnr(...), 0, -1, true), "\n")]], name)
end

--- The conversation that is active, as lines.
function M:conversation()
  return self:lua([[
    local s = require("sallyport.session").get()
    if not s then return "" end
    local v = require("sallyport.view")
    return table.concat(vim.api.nvim_buf_get_lines(v.buffer(s), 0, -1, true), "\n")
  ]])
end

--- Begins a session in which writes are not asked about.
function M:accepting()
  self:lua([[require("sallyport").new({ mode = "acceptEdits" }, function() _G.ready = true end)]])
  self:wait("the session", "_G.ready")
end

--- Runs one turn to its end.
function M:turn(prompt)
  local before = self:lua([[
    if not _G.ends then
      _G.ends = 0
      vim.api.nvim_create_autocmd("User", { pattern = "SallyportTurnEnd", callback = function() _G.ends = _G.ends + 1 end })
    end
    return _G.ends
  ]])
  self:ask(prompt)
  self:wait("the end of the turn", "_G.ends > ...", before)
end

--- Asks and does not wait.
function M:ask(prompt)
  self:lua([[require("sallyport").prompt({ prompt = ... })]], prompt)
end

--- A file of the project; nil when there is none.
function M.disk(name)
  local file = io.open(vim.env.NVIM_PROJECT .. "/" .. name, "rb")
  local content = file and file:read("*a")
  if file then
    file:close()
  end
  return content
end

--- Makes a file of the project.
function M.put(name, content)
  local file = assert(io.open(vim.env.NVIM_PROJECT .. "/" .. name, "wb"))
  file:write(content)
  file:close()
end

--- A test with a Neovim of its own, which ends with it.
function M.test(name, f)
  check.test(name, function()
    local n = M.start()
    local ok, err = xpcall(f, debug.traceback, n)
    n:stop()
    if not ok then
      error(err, 0)
    end
  end)
end

function M:stop()
  pcall(self.cmd, self, "qall!")
  vim.fn.jobwait({ self.job }, 10000)
  vim.fn.jobstop(self.job)
end

return M
