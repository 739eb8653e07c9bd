--- Permission cards: a person answers, by one key, in the conversation or in a float when that is hidden.
local client = require("sallyport.client")
local draw = require("sallyport.draw")
local session = require("sallyport.session")
local view = require("sallyport.view")

local M = {}

local api = vim.api

--- Who waits for an answer, by permission id: called with the option's id, or with nothing when the card was withdrawn.
---@type table<string, fun(option?: string)>
local waiting = {}

--- The float that shows a card, when one is open.
---@type { win: integer, permission: string }?
local float

local function close_float()
  if float and api.nvim_win_is_valid(float.win) then
    api.nvim_win_close(float.win, true)
  end
  float = nil
end

---@param permission string
---@param option? string
local function answer(permission, option)
  local resume = waiting[permission]
  waiting[permission] = nil
  if float and float.permission == permission then
    close_float()
  end
  if resume then
    resume(option)
  end
end

--- Answers a permission by one of its options. Used by the keys, and for other plugins.
---@param permission string
---@param option string optionId
---@return boolean whether it was still waiting
function M.answer(permission, option)
  local known = waiting[permission] ~= nil
  answer(permission, option)
  return known
end

--- Shows what a card would change as Neovim shows a diff: two windows in a tab of their own.
---@param card sallyport.Card
function M.diff(card)
  for i, d in ipairs(card.diffs) do
    vim.cmd(i == 1 and "tabnew" or "tabnew")
    local name = vim.fn.fnamemodify(d.path, ":t")
    local filetype = vim.filetype.match({ filename = d.path })
    for side, text in ipairs({ type(d.oldText) == "string" and d.oldText or "", d.newText }) do
      if side == 2 then
        vim.cmd("rightbelow vsplit")
      end
      local buf = api.nvim_create_buf(false, true)
      api.nvim_win_set_buf(0, buf)
      local lines = vim.split(text, "\n", { plain = true })
      if lines[#lines] == "" then
        lines[#lines] = nil
      end
      api.nvim_buf_set_lines(buf, 0, -1, false, lines)
      vim.bo[buf].bufhidden, vim.bo[buf].modifiable = "wipe", false
      vim.bo[buf].filetype = filetype or ""
      pcall(
        api.nvim_buf_set_name,
        buf,
        ("sallyport://%s/%s/%s"):format(card.permissionId, side == 1 and "before" or "after", name)
      )
      vim.keymap.set("n", "q", "<cmd>tabclose<CR>", { buffer = buf, nowait = true })
      vim.cmd("diffthis")
    end
  end
end

---@param buf integer
---@param card sallyport.Card
---@param hide fun()
local function keys(buf, card, hide)
  local function map(lhs, rhs, desc)
    if lhs ~= "" then
      vim.keymap.set("n", lhs, rhs, { buffer = buf, nowait = true, desc = desc })
    end
  end
  for i, key in ipairs(draw.keys(card.options)) do
    map(key, function()
      answer(card.permissionId, card.options[i].optionId)
    end, card.options[i].name)
  end
  map("=", function()
    hide()
    M.diff(card)
  end, "show the diff")
  map("q", hide, "answer later")
  map("<Esc>", hide, "answer later")
end

--- Shows a card in a float. It takes the focus only when it was asked for: a key that was meant for a file must never
--- answer a permission.
---@param s sallyport.Session
---@param card sallyport.Card
---@param enter boolean
local function open_float(s, card, enter)
  if enter and float and float.permission == card.permissionId and api.nvim_win_is_valid(float.win) then
    api.nvim_set_current_win(float.win)
    return
  end
  close_float()
  local lines = draw.card(card, s.info.cwd)
  local width = 50
  for _, line in ipairs(lines) do
    width = math.max(width, vim.fn.strdisplaywidth(line))
  end
  width = math.min(width + 2, vim.o.columns - 4)
  local height = 0
  for _, line in ipairs(lines) do
    height = height + math.max(1, math.ceil(vim.fn.strdisplaywidth(line) / width))
  end
  height = math.min(height, math.max(3, vim.o.lines - 6))
  local buf = api.nvim_create_buf(false, true)
  api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.bo[buf].bufhidden, vim.bo[buf].modifiable = "wipe", false
  view.colour(buf)
  local win = api.nvim_open_win(buf, enter, {
    relative = "editor",
    row = math.max(0, vim.o.lines - height - 5),
    col = math.floor((vim.o.columns - width) / 2),
    width = width,
    height = height,
    style = "minimal",
    border = "rounded",
    title = (" %s asks "):format(s.info.agent or "the agent"),
    footer = " :Sallyport answer, then one key · = diff · q later ",
  })
  vim.wo[win][0].wrap = true
  api.nvim_win_set_cursor(win, { #lines, 0 })
  float = { win = win, permission = card.permissionId }
  keys(buf, card, close_float)
end

--- Whether the user has put a picker of their own in the place of Neovim's.
---@return boolean
function M.own_picker()
  local source = debug.getinfo(vim.ui.select, "S").source
  return not source:find("vim/ui.lua", 1, true)
end

---@param card sallyport.Card
local function pick(card)
  vim.ui.select(card.options, {
    prompt = card.title,
    kind = "sallyport.permission",
    format_item = function(option)
      return option.name
    end,
  }, function(option)
    if option then
      answer(card.permissionId, option.optionId)
    end
  end)
end

--- Brings the permission that is next in front of the user.
---@param s sallyport.Session
---@return boolean whether there is one
function M.focus(s)
  local item = session.next(s)
  if not item then
    return false
  end
  if M.own_picker() then
    pick(item.card)
  else
    open_float(s, item.card, true)
  end
  return true
end

--- How long a key in the conversation does nothing once another card is the one that it answers: it may be meant for the
--- one before, or for none. In ms, less than a person takes to see it.
local PAUSE = 300

--- The card that keys in a conversation answer, and since when, by session id.
---@type table<string, { item?: sallyport.Item, since: integer }>
local heads = {}

---@param s sallyport.Session
---@return sallyport.Item?
local function head(s)
  local item = session.next(s)
  if not heads[s.id] or heads[s.id].item ~= item then
    heads[s.id] = { item = item, since = vim.uv.now() }
  end
  return item
end

--- Keys in the conversation answer the card that is next.
---@param s sallyport.Session
local function conversation_keys(s)
  local buf = view.behind(s)
  local wanted = { "a", "A", "r", "R", "=" }
  for i = 1, 9 do
    wanted[#wanted + 1] = tostring(i)
  end
  for _, key in ipairs(wanted) do
    vim.keymap.set("n", key, function()
      local item = head(s)
      if not item then
        return vim.api.nvim_feedkeys(key, "n", false)
      end
      if vim.uv.now() - heads[s.id].since < PAUSE then
        return
      end
      if key == "=" then
        return M.diff(item.card)
      end
      for i, k in ipairs(draw.keys(item.card.options)) do
        if k == key then
          return answer(item.card.permissionId, item.card.options[i].optionId)
        end
      end
    end, { buffer = buf, nowait = true, desc = "answer the permission" })
  end
end

--- Calls the user for the card that is next. One that is being decided stands in the conversation and calls nobody. A
--- picker of the user's own takes the focus, so it waits until nobody is typing.
---@param s sallyport.Session
local function present(s)
  local item = head(s)
  if not item or (float and api.nvim_win_is_valid(float.win)) then
    return
  end
  conversation_keys(s)
  if item.card.deciding or view.visible(s) then
    return
  end
  if not M.own_picker() then
    return open_float(s, item.card, false)
  end
  if api.nvim_get_mode().mode == "n" then
    return pick(item.card)
  end
  vim.notify(("sallyport: %s asks: %s\nhint: :Sallyport answer"):format(s.info.agent or "the agent", item.card.title))
end

--- Answers sallyport/permission.
---@param params sallyport.Card
---@return { optionId: string }
function M.ask(params)
  local s = session.card(params)
  local option = client.await(function(resume)
    waiting[params.permissionId] = resume
    present(s) -- a picker may answer at once
  end)
  return { optionId = option or "" }
end

--- sallyport/permission/call.
---@param params sallyport.Called
function M.called(params)
  local s, item = session.called(params)
  if item and float and float.permission == params.permissionId and api.nvim_win_is_valid(float.win) then
    local there = api.nvim_get_current_win() == float.win
    close_float()
    return open_float(s, item.card, there)
  end
  present(s)
end

--- sallyport/permission/settled.
---@param params sallyport.Settled
function M.settled(params)
  local s = session.settled(params)
  answer(params.permissionId, nil)
  present(s)
end

--- Answers sallyport/session/unsaved.
---@param params { sessionId: string, documents: table[], choices: { id: string, name: string }[] }
---@return { choice: string }
function M.unsaved(params)
  local names = vim.tbl_map(function(d)
    return vim.fn.fnamemodify(d.path or d.uri, ":~:.")
  end, params.documents)
  local choice = client.await(function(resume)
    vim.ui.select(params.choices, {
      prompt = "Unsaved: " .. table.concat(names, ", "),
      kind = "sallyport.unsaved",
      format_item = function(c)
        return c.name
      end,
    }, function(c)
      resume(c and c.id or "")
    end)
  end)
  return { choice = choice }
end

return M
