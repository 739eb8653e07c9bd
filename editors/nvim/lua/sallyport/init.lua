--- Sallyport in Neovim: coding agents that see unsaved text and whose writes land in buffers.
---
--- Every function may be called at any time; the server is started by the first that needs it. Callbacks get an error
--- message or a result, never both.
local M = {}

local function client()
  return require("sallyport.client")
end
local function session()
  return require("sallyport.session")
end

--- Settings; see |sallyport-settings|. Not needed when the defaults do.
---@param opts? sallyport.Config
function M.setup(opts)
  require("sallyport.config").set(opts)
end

---@param err { message: string, data?: table }
---@return string
local function message(err)
  local data = type(err.data) == "table" and err.data or {}
  local text = tostring(err.message)
  if data.kind == "auth" then
    for _, method in ipairs(data.methods or {}) do
      text = text .. ("\nhint: %s"):format(method.command or (method.name .. " (" .. method.id .. ")"))
    end
  elseif data.hint then
    text = text .. "\nhint: " .. data.hint
  end
  return text
end

---@param err { message: string, data?: table }
local function fail(err)
  vim.notify("sallyport: " .. message(err), vim.log.levels.ERROR)
end

--- Begins a session.
---@param opts? { agent?: string, cwd?: string, mode?: string }
---@param done? fun(err?: string, session?: sallyport.Session)
function M.new(opts, done)
  opts = opts or {}
  client().request("sallyport/session/new", {
    agent = opts.agent or require("sallyport.config").get().agent,
    cwd = opts.cwd or vim.fn.getcwd(),
    mode = opts.mode,
  }, function(err, info)
    if err then
      fail(err)
      return done and done(message(err))
    end
    local s = session().opened(info)
    if done then
      done(nil, s)
    end
  end)
end

--- The active session, begun if there is none.
---@param done fun(err?: string, session?: sallyport.Session)
function M.ensure(done)
  local s = session().get()
  if s and not s.gone then
    return done(nil, s)
  end
  M.new({}, done)
end

--- Opens the conversation and its prompt.
function M.open()
  M.ensure(function(_, s)
    if s then
      require("sallyport.prompt").open(s)
    end
  end)
end

--- Runs one turn. The answer comes at its end.
---@param opts { prompt: string, session?: string, range?: sallyport.Range }
---@param done? fun(err?: string, result?: sallyport.TurnResult)
function M.prompt(opts, done)
  local function run(s)
    local blocks = require("sallyport.context").blocks(s, opts.prompt, opts.range)
    session().turn_began(s, opts.prompt)
    client().request("sallyport/session/prompt", {
      sessionId = s.id,
      prompt = blocks,
      context = require("sallyport.config").get().context,
    }, function(err, result)
      session().turn_ended(s, err and { message = message(err) } or nil, result)
      if done then
        done(err and message(err) or nil, result)
      end
    end)
  end
  local s = opts.session and session().get(opts.session) or session().get()
  if s and not s.gone then
    return run(s)
  end
  M.new({}, function(err, made)
    if made then
      return run(made)
    end
    if done then
      done(err)
    end
  end)
end

--- Cancels the turn of a session.
---@param id? string default: the active one
function M.cancel(id)
  local s = session().get(id)
  if s then
    client().request("sallyport/session/cancel", { sessionId = s.id })
  end
end

--- Sets the mode of a session.
---@param mode string
---@param id? string
function M.set_mode(mode, id)
  local s = session().get(id)
  if not s then
    return vim.notify("sallyport: there is no session\nhint: :Sallyport begins one", vim.log.levels.WARN)
  end
  client().request("sallyport/session/setMode", { sessionId = s.id, mode = mode }, function(err, info)
    if err then
      return fail(err)
    end
    session().refreshed(info)
  end)
end

--- Ends a session and its agent.
---@param id? string
function M.close(id)
  local s = session().get(id)
  if not s then
    return
  end
  client().request("sallyport/session/close", { sessionId = s.id }, function(err)
    if err then
      return fail(err)
    end
    session().closed(s.id)
  end)
end

--- One line for a status line: agent, whether it works, how many permissions wait. Empty without a session.
---@return string
function M.statusline()
  if not package.loaded["sallyport.session"] then
    return ""
  end
  local s = session().get()
  if not s then
    return ""
  end
  local text = (s.info.agent or "?") .. (s.busy and " …" or "")
  local waiting = vim.tbl_filter(function(item)
    return not item.card.deciding
  end, s.cards)
  if #waiting > 0 then
    text = text .. (" ?%d"):format(#waiting)
  end
  return (text:gsub("%%", "%%%%"))
end

--- Answers a permission by one of its options; see |SallyportPermission|.
---@param permission string permissionId
---@param option string optionId
---@return boolean whether it was still waiting
function M.answer(permission, option)
  return require("sallyport.card").answer(permission, option)
end

M._fail = fail

return M
