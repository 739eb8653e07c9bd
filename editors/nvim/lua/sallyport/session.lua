--- What is known of each conversation: what was said and done, in order. Views draw it; nothing here touches a window.
local M = {}

---@class sallyport.Item
---@field kind "user"|"agent"|"thought"|"tool"|"plan"|"notice"|"card"|"end"
---@field parts string[] the text of what grows, as it came; see M.text
---@field message? string ACP messageId, of chunks
---@field call? table of a tool: the ACP tool call with its updates merged in
---@field entries? table[] of a plan
---@field notice? sallyport.Notice
---@field card? sallyport.Card
---@field settled? sallyport.Settled
---@field result? sallyport.TurnResult
---@field failed? string of an end: the error

---@class sallyport.Session
---@field id string
---@field info sallyport.Info
---@field items sallyport.Item[]
---@field calls table<string, sallyport.Item>
---@field cards sallyport.Item[] without an answer, the oldest first
---@field commands table[] the agent's slash commands (ACP availableCommands)
---@field usage? table the last usage_update
---@field title? string
---@field busy boolean
---@field gone boolean the server that held it has ended
---@field changed table<sallyport.Item, true> since the views drew last

--- Bytes of a text that are kept as one part, about.
local PART = 4096

---@type table<string, sallyport.Session>
local sessions = {}
---@type string[] ids, in the order of their making
local order = {}
---@type string?
local active

--- Views and status lines that want to know. `item` is nil when the session itself changed.
---@type fun(session: sallyport.Session, item?: sallyport.Item)[]
local listeners = {}

---@param f fun(session: sallyport.Session, item?: sallyport.Item)
function M.listen(f)
  listeners[#listeners + 1] = f
end

---@param session sallyport.Session
---@param item? sallyport.Item
local function tell(session, item)
  if item then
    session.changed[item] = true
  end
  for _, f in ipairs(listeners) do
    f(session, item)
  end
end

--- Fires `User Sallyport<name>` for other plugins.
---@param name string
---@param data table
local function event(name, data)
  vim.api.nvim_exec_autocmds("User", { pattern = "Sallyport" .. name, data = data, modeline = false })
end

---@param id string
---@return sallyport.Session
local function ensure(id)
  local s = sessions[id]
  if not s then
    s = {
      id = id,
      info = { sessionId = id, modes = {}, capabilities = {} },
      items = {},
      calls = {},
      cards = {},
      commands = {},
      busy = false,
      gone = false,
      changed = {},
    }
    sessions[id] = s
    order[#order + 1] = id
  end
  return s
end

--- Takes over what the server says of a session, and makes it the active one.
---@param info sallyport.Info
---@return sallyport.Session
function M.opened(info)
  local s = ensure(info.sessionId)
  s.info = info
  active = s.id
  tell(s)
  event("SessionOpened", { session = s.id, agent = info.agent })
  return s
end

---@param info sallyport.Info
function M.refreshed(info)
  local s = sessions[info.sessionId]
  if s then
    s.info = info
    tell(s)
  end
end

---@param id? string
---@return sallyport.Session? of that id, or the active one
function M.get(id)
  return sessions[id or active or ""]
end

---@param id string
function M.activate(id)
  active = id
  tell(ensure(id))
end

--- The sessions that the server still holds, the oldest first.
---@return sallyport.Session[]
function M.list()
  local all = {}
  for _, id in ipairs(order) do
    if sessions[id] and not sessions[id].gone then
      all[#all + 1] = sessions[id]
    end
  end
  return all
end

---@param session sallyport.Session
---@param item sallyport.Item
---@return sallyport.Item
function M.add(session, item)
  item.parts = item.parts or {}
  session.items[#session.items + 1] = item
  tell(session, item)
  return item
end

--- The text of an item, from its part number `from` on, as far as there is time to draw it at once. Chunks are not
--- joined as they come: an agent sends thousands.
---@param item sallyport.Item
---@param from integer
---@param most integer bytes, about
---@return string
---@return integer last part
function M.text(item, from, most)
  local last, size = from - 1, 0
  while item.parts[last + 1] and (size == 0 or size + #item.parts[last + 1] <= most) do
    last = last + 1
    size = size + #item.parts[last]
  end
  return table.concat(item.parts, "", from, last), last
end

--- Forgets a session that was closed. What it said stays in its view.
---@param id string
function M.closed(id)
  local s = sessions[id]
  if not s then
    return
  end
  s.gone = true
  if active == id then
    local left = M.list()
    active = left[#left] and left[#left].id or nil
  end
  tell(s)
end

--- Called when the server has ended: no session is left.
function M.lost()
  for _, s in ipairs(M.list()) do
    s.cards = {}
    M.add(s, {
      kind = "notice",
      notice = { kind = "gone", level = "error", text = "the server has ended; the next prompt begins a new session" },
    })
    s.busy = false
    M.closed(s.id)
  end
end

--- The text of an ACP content block, for people.
---@param block table
---@return string
local function block_text(block)
  if block.type == "text" then
    return block.text
  elseif block.type == "resource_link" then
    return ("[%s](%s)"):format(block.name or block.uri, block.uri)
  elseif block.type == "resource" and type(block.resource) == "table" then
    return ("[%s]"):format(block.resource.uri or "resource")
  end
  return ("[%s]"):format(block.type or "content")
end

--- Adds a text in parts that are quickly drawn, cut behind line ends.
---@param parts string[]
---@param text string
local function add_parts(parts, text)
  local at = 1
  while #text - at >= PART do
    local cut = text:find("\n", at + PART / 2, true)
    if not cut or cut - at > 2 * PART then
      break
    end
    parts[#parts + 1] = text:sub(at, cut)
    at = cut + 1
  end
  parts[#parts + 1] = text:sub(at)
end

---@param s sallyport.Session
---@param kind "user"|"agent"|"thought"
---@param update table
local function chunk(s, kind, update)
  local text = type(update.content) == "table" and block_text(update.content) or ""
  local last = s.items[#s.items]
  local message = type(update.messageId) == "string" and update.messageId or nil
  if last and last.kind == kind and last.message == message then
    add_parts(last.parts, text)
    tell(s, last)
  else
    local item = { kind = kind, parts = {}, message = message }
    add_parts(item.parts, text)
    M.add(s, item)
  end
end

---@param s sallyport.Session
---@param update table
local function call(s, update)
  local id = update.toolCallId
  if type(id) ~= "string" then
    return
  end
  local item = s.calls[id]
  if not item then
    if update.sessionUpdate == "tool_call_update" and not update.title then
      return
    end
    item = { kind = "tool", call = {} }
    s.calls[id] = item
    M.add(s, item)
  end
  for key, value in pairs(update) do
    if value ~= vim.NIL then
      item.call[key] = value
    end
  end
  tell(s, item)
end

local kinds = {
  user_message_chunk = function(s, u)
    chunk(s, "user", u)
  end,
  agent_message_chunk = function(s, u)
    chunk(s, "agent", u)
  end,
  agent_thought_chunk = function(s, u)
    chunk(s, "thought", u)
  end,
  tool_call = call,
  tool_call_update = call,
  plan = function(s, u)
    local last
    for i = #s.items, 1, -1 do
      if s.items[i].kind == "plan" then
        last = s.items[i]
        break
      elseif s.items[i].kind == "end" then
        break
      end
    end
    if last then
      last.entries = u.entries
      tell(s, last)
    else
      M.add(s, { kind = "plan", entries = u.entries })
    end
  end,
  available_commands_update = function(s, u)
    s.commands = u.availableCommands or {}
  end,
  current_mode_update = function(s, u)
    s.agent_mode = u.currentModeId
    tell(s)
  end,
  usage_update = function(s, u)
    s.usage = u
    tell(s)
  end,
  session_info_update = function(s, u)
    if type(u.title) == "string" then
      s.title = u.title
    end
    tell(s)
  end,
}

--- sallyport/session/update.
---@param params sallyport.UpdateParams
function M.update(params)
  local handle = kinds[params.update.sessionUpdate]
  if handle then
    handle(ensure(params.sessionId), params.update)
  end
end

local levels = { info = vim.log.levels.INFO, warning = vim.log.levels.WARN, error = vim.log.levels.ERROR }

--- sallyport/session/notice. One that belongs to no session is told at once.
---@param notice sallyport.Notice
function M.notice(notice)
  event("Notice", notice)
  local s = notice.sessionId and sessions[notice.sessionId]
  if s then
    M.add(s, { kind = "notice", notice = notice })
  else
    local hint = notice.hint and ("\nhint: " .. notice.hint) or ""
    vim.notify("sallyport: " .. notice.text .. hint, levels[notice.level] or vim.log.levels.INFO)
  end
  if s and notice.kind == "posture" then
    require("sallyport.client").request("sallyport/session/info", { sessionId = s.id }, function(_, info)
      if info then
        M.refreshed(info)
      end
    end)
  end
end

---@param s sallyport.Session
---@param text string what the user said, as it is shown
function M.turn_began(s, text)
  s.busy = true
  M.add(s, { kind = "user", parts = { text } })
  event("TurnStart", { session = s.id })
end

---@param s sallyport.Session
---@param err? { message: string }
---@param result? sallyport.TurnResult
function M.turn_ended(s, err, result)
  s.busy = false
  M.add(s, { kind = "end", result = result, failed = err and err.message or nil })
  event("TurnEnd", { session = s.id, turn = result and result.turnId, stopReason = result and result.stopReason })
end

--- Says that a permission needs the user.
---@param card sallyport.Card
local function waits(card)
  event("Permission", { session = card.sessionId, permission = card.permissionId, title = card.title })
end

--- A permission waits, or is being decided.
---@param card sallyport.Card
---@return sallyport.Session
---@return sallyport.Item
function M.card(card)
  local s = ensure(card.sessionId)
  local item = M.add(s, { kind = "card", card = card })
  s.cards[#s.cards + 1] = item
  if not card.deciding then
    waits(card)
  end
  return s, item
end

--- A permission that was being decided waits from now on.
---@param called sallyport.Called
---@return sallyport.Session
---@return sallyport.Item? nil when it was answered meanwhile
function M.called(called)
  local s = ensure(called.sessionId)
  for _, item in ipairs(s.cards) do
    if item.card.permissionId == called.permissionId then
      item.card.deciding, item.card.reason = nil, called.reason
      tell(s, item)
      waits(item.card)
      return s, item
    end
  end
  return s
end

--- The permission that an answer is for: the oldest that waits, else the oldest that is being decided.
---@param s sallyport.Session
---@return sallyport.Item?
function M.next(s)
  for _, item in ipairs(s.cards) do
    if not item.card.deciding then
      return item
    end
  end
  return s.cards[1]
end

--- A permission was settled, perhaps one that was never shown.
---@param settled sallyport.Settled
---@return sallyport.Session
---@return sallyport.Item
function M.settled(settled)
  local s = ensure(settled.sessionId)
  for _, item in ipairs(s.items) do
    if item.card and item.card.permissionId == settled.permissionId then
      item.settled = settled
      s.cards = vim.tbl_filter(function(open)
        return open ~= item
      end, s.cards)
      tell(s, item)
      return s, item
    end
  end
  return s, M.add(s, { kind = "card", settled = settled })
end

return M
