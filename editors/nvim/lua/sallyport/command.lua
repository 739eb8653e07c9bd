--- :Sallyport and its subcommands.
local M = {}

local function api()
  return require("sallyport")
end

---@param text string
local function warn(text)
  vim.notify("sallyport: " .. text, vim.log.levels.WARN)
end

---@return sallyport.Session?
local function current()
  local s = require("sallyport.session").get()
  if not s then
    warn("there is no session\nhint: :Sallyport begins one")
  end
  return s
end

---@param args { fargs: string[], range: integer, line1?: integer, line2?: integer }
---@return sallyport.Range?
local function range_of(args)
  if args.range == 0 then
    return nil
  end
  return { buf = vim.api.nvim_get_current_buf(), first = args.line1, last = args.line2 }
end

---@type table<string, { run: fun(rest: string[], args: table), complete?: fun(lead: string): string[] }>
local commands = {}

commands.open = {
  run = function()
    api().open()
  end,
}

commands.ask = {
  run = function(rest, args)
    local range = range_of(args)
    local function ask(prompt)
      if prompt and vim.trim(prompt) ~= "" then
        api().prompt({ prompt = prompt, range = range })
      end
    end
    if #rest > 0 then
      return ask(table.concat(rest, " "))
    end
    vim.ui.input({ prompt = "Ask the agent: " }, ask)
  end,
}

commands.agent = {
  run = function(rest)
    if rest[1] then
      return api().new({ agent = rest[1] }, function(_, s)
        if s then
          require("sallyport.prompt").open(s)
        end
      end)
    end
    require("sallyport.client").request("sallyport/agents", {}, function(err, result)
      if err then
        return api()._fail(err)
      end
      vim.ui.select(result.agents, {
        prompt = "Agent",
        kind = "sallyport.agent",
        format_item = function(a)
          return a.available and a.name or ("%s: %s"):format(a.name, a.fix or a.reason or "not available")
        end,
      }, function(a)
        if a then
          commands.agent.run({ a.id }, {})
        end
      end)
    end)
  end,
}

commands.mode = {
  run = function(rest)
    local s = current()
    if not s then
      return
    end
    if rest[1] then
      return api().set_mode(rest[1])
    end
    vim.ui.select(s.info.modes, {
      prompt = "Mode (now " .. (s.info.mode or "?") .. ")",
      kind = "sallyport.mode",
      format_item = function(m)
        return m.meaning and (m.id .. ": " .. m.meaning) or m.id
      end,
    }, function(m)
      if m then
        api().set_mode(m.id)
      end
    end)
  end,
  complete = function()
    local s = require("sallyport.session").get()
    return vim.tbl_map(function(m)
      return m.id
    end, s and s.info.modes or {})
  end,
}

commands.sessions = {
  run = function()
    local all = require("sallyport.session").list()
    if #all == 0 then
      return warn("there is no session\nhint: :Sallyport begins one")
    end
    vim.ui.select(all, {
      prompt = "Session",
      kind = "sallyport.session",
      format_item = function(s)
        return ("%s · %s%s"):format(s.info.agent or "?", s.title or s.id, s.busy and " · working" or "")
      end,
    }, function(s)
      if s then
        require("sallyport.session").activate(s.id)
        require("sallyport.view").open(s)
      end
    end)
  end,
}

commands.cancel = {
  run = function()
    api().cancel()
  end,
}

commands.close = {
  run = function()
    api().close()
  end,
}

commands.answer = {
  run = function()
    local s = current()
    if s and not require("sallyport.card").focus(s) then
      warn("no permission waits")
    end
  end,
}

commands.posture = {
  run = function()
    local s = current()
    if s and s.info.posture then
      local p = s.info.posture
      vim.notify(("%s\nreads %s · writes %s · commands %s"):format(p.sentence, p.reads, p.writes, p.commands))
    end
  end,
}

commands.undo = {
  run = function(rest)
    require("sallyport.review").take("undo", rest[1])
  end,
}

commands.redo = {
  run = function(rest)
    require("sallyport.review").take("redo", rest[1])
  end,
}

commands.turns = {
  run = function()
    require("sallyport.review").turns()
  end,
}

commands.review = {
  run = function(rest)
    require("sallyport.review").open(rest[1])
  end,
}

commands.diff = {
  run = function()
    require("sallyport.review").diff()
  end,
}

commands.back = {
  run = function(rest)
    local review = require("sallyport.review")
    if rest[1] == "file" then
      return review.file_back()
    end
    review.hunk_back()
  end,
  complete = function()
    return { "file", "hunk" }
  end,
}

commands.receipt = {
  run = function(rest)
    require("sallyport.review").receipt(rest[1])
  end,
}

commands.log = {
  run = function()
    vim.cmd.tabedit(vim.fn.fnameescape(vim.lsp.get_log_path and vim.lsp.get_log_path() or vim.lsp.log.get_filename()))
    vim.cmd("normal! G")
  end,
}

commands.stop = {
  run = function()
    require("sallyport.client").stop()
  end,
}

--- Runs :Sallyport.
---@param args { fargs: string[], range: integer, line1?: integer, line2?: integer }
function M.run(args)
  local name = args.fargs[1] or "open"
  local command = commands[name]
  if not command then
    return warn(("%q is no subcommand\nhint: %s"):format(name, table.concat(M.names(), ", ")))
  end
  command.run(vim.list_slice(args.fargs, 2), args)
end

---@return string[]
function M.names()
  return vim.fn.sort(vim.tbl_keys(commands))
end

--- Completion of the command line.
---@param lead string
---@param line string
---@return string[]
function M.complete(lead, line)
  local words = vim.split(line, "%s+", { trimempty = true })
  local first = words[2]
  local all
  if not first or (#words == 2 and lead ~= "") then
    all = M.names()
  else
    local command = commands[first]
    all = command and command.complete and command.complete(lead) or {}
  end
  return vim.tbl_filter(function(name)
    return vim.startswith(name, lead)
  end, all)
end

return M
