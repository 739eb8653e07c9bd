-- nvim --clean --headless -l driver.lua SCENARIO.lua
--
-- Attaches Neovim's own LSP client to `sallyport serve` and runs one scenario,
-- which gets the table T. Prints PASS, or fails with what was waited for.
-- `sallyport` is on PATH; PLAIN_PROJECT is the project's folder.

---@class (exact) plain.Question
---@field prompt string
---@field titles string[]

---@class (exact) plain.Note
---@field text string
---@field level integer? -- of vim.log.levels

---@class (exact) plain.Progress
---@field kind string
---@field title string?
---@field message string?
---@field cancellable boolean?
---@field token string|integer

local T = {
  project = assert(vim.env.PLAIN_PROJECT, 'PLAIN_PROJECT is missing'),
  questions = {}, ---@type plain.Question[] asked by vim.ui.select
  notes = {}, ---@type plain.Note[] messages and errors
  progress = {}, ---@type plain.Progress[]
  ends = 0, -- progresses that ended
  ---@type (string|false|fun(choose: fun(title: string?)))[]
  answers = {}, -- to the next questions: a title, false for none, or who will answer
  buf = 0,
}

local deadline = 30000 -- ms, for every wait

---@param what string
---@param cond fun(): any
---@param ms integer?
function T.wait(what, cond, ms)
  if vim.wait(ms or deadline, cond, 5) then
    return
  end
  error('waited in vain: ' .. what .. '\n' .. T.state(), 2)
end

function T.state()
  return vim.inspect({
    text = vim.api.nvim_buf_is_valid(T.buf) and T.text() or '',
    questions = T.questions,
    notes = T.notes,
    progress = T.progress,
  })
end

---@param got any
---@param want any
---@param what string
function T.same(got, want, what)
  if not vim.deep_equal(got, want) then
    error(('%s: got %s, want %s\n%s'):format(what, vim.inspect(got), vim.inspect(want), T.state()), 2)
  end
end

---@param got string?
---@param part string
---@param what string
function T.contains(got, part, what)
  if type(got) ~= 'string' or not got:find(part, 1, true) then
    error(('%s: got %s, want it to contain %q\n%s'):format(what, vim.inspect(got), part, T.state()), 2)
  end
end

---@param name string
function T.path(name)
  return T.project .. '/' .. name
end

-- Writes a file of the project, byte for byte.
---@param name string
---@param content string
function T.put(name, content)
  local f = assert(io.open(T.path(name), 'wb'))
  f:write(content)
  f:close()
end

---@param name string
---@return string? content nil: there is none
function T.disk(name)
  local f = io.open(T.path(name), 'rb')
  if not f then
    return nil
  end
  local s = f:read('*a')
  f:close()
  return s
end

-- Opens a file of the project, as it is on disk, and attaches the client to it.
---@param name string
function T.open(name)
  vim.cmd.edit({ args = { vim.fn.fnameescape(T.path(name)) }, bang = true })
  T.buf = vim.api.nvim_get_current_buf()
  local id = assert(vim.lsp.start({
    name = 'sallyport',
    cmd = { 'sallyport', 'serve' },
    root_dir = T.project,
  }, { bufnr = T.buf }))
  T.client = assert(vim.lsp.get_client_by_id(id))
  T.wait('the client is attached', function()
    return T.client.initialized and vim.lsp.buf_is_attached(T.buf, id)
  end)
end

-- The text as LSP has it.
function T.text()
  return table.concat(vim.api.nvim_buf_get_lines(T.buf, 0, -1, false), '\n') .. '\n'
end

-- Types keys as a person does. The key that does nothing ends the undo step,
-- as waiting for the next key does in a terminal.
---@param keys string
function T.keys(keys)
  for _, k in ipairs({ keys, '<Ignore>' }) do
    vim.api.nvim_feedkeys(vim.api.nvim_replace_termcodes(k, true, true, true), 'tx', false)
  end
end

-- Runs a command of the server.
---@param name string
---@param arg any?
function T.command(name, arg)
  local command = { title = name, command = name, arguments = { arg } }
  if T.client.exec_cmd then
    T.client:exec_cmd(command, { bufnr = T.buf }) -- 0.11 and newer
  else
    vim.lsp.buf.execute_command(command)
  end
end

-- Runs a command and waits for its answer: those that are sent together are
-- worked on side by side.
---@param name string
---@param arg any?
function T.command_done(name, arg)
  local params = { command = name, arguments = { arg } }
  local answered = false
  local function handler(err)
    answered = true
    assert(not err, vim.inspect(err))
  end
  if T.client.exec_cmd then
    T.client:request('workspace/executeCommand', params, handler, T.buf)
  else
    T.client.request('workspace/executeCommand', params, handler, T.buf)
  end
  T.wait('the answer of ' .. name, function()
    return answered
  end)
end

-- Sets the session's mode and waits until it is set.
---@param mode string
function T.mode(mode)
  T.command('sallyport.setMode', { mode = mode })
  T.wait('the mode is set', function()
    return T.noted('mode ' .. mode)
  end)
end

---@param words string
function T.ask(words)
  T.command('sallyport.ask', { prompt = words, uri = vim.uri_from_bufnr(T.buf) })
end

-- Asks and waits for the turn's end.
---@param words string
---@param ms integer?
function T.turn(words, ms)
  local before = T.ends
  T.ask(words)
  T.wait('the end of the turn', function()
    return T.ends > before
  end, ms)
end

-- Has the agent read a.txt and compares that with what Neovim calls its text.
---@param what string
function T.agree(what)
  T.turn('please-look')
  local lines = vim.api.nvim_buf_get_lines(T.buf, 0, -1, false)
  local want = table.concat(lines, '\n') .. (vim.bo[T.buf].eol and '\n' or '')
  T.same(T.disk('seen.txt'), want, what .. ': what the agent sees, and the editor')
end

-- Has Neovim look after its files at every progress, as README.md says.
function T.checks()
  vim.api.nvim_create_autocmd('LspProgress', { callback = vim.schedule_wrap(function()
    vim.cmd.checktime()
  end) })
end

-- What the last progress said at its end.
function T.ending()
  for i = #T.progress, 1, -1 do
    if T.progress[i].kind == 'end' and T.progress[i].title ~= 'Sallyport: files' then
      return T.progress[i].message
    end
  end
end

---@param part string
function T.noted(part)
  for _, n in ipairs(T.notes) do
    if n.text:find(part, 1, true) then
      return n
    end
  end
end

-- The conversation's file, as the editor shows it.
function T.conversation()
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    local name = vim.api.nvim_buf_get_name(buf)
    if name:find('/conversations/', 1, true) then
      return name, buf
    end
  end
end

---@diagnostic disable-next-line: duplicate-set-field
vim.ui.select = function(items, opts, on_choice)
  local titles = {}
  for _, item in ipairs(items) do
    titles[#titles + 1] = (opts.format_item or tostring)(item)
  end
  T.questions[#T.questions + 1] = { prompt = opts.prompt, titles = titles }
  local function choose(title)
    for i, t in ipairs(titles) do
      if t == title then
        return on_choice(items[i], i)
      end
    end
    assert(not title, 'no answer is called ' .. tostring(title))
    on_choice(nil, nil)
  end
  local answer = table.remove(T.answers, 1)
  if type(answer) == 'function' then
    answer(choose)
  else
    choose(answer or nil)
  end
end

-- Errors of commands come here.
---@diagnostic disable-next-line: duplicate-set-field
vim.notify = function(text, level)
  T.notes[#T.notes + 1] = { text = text, level = level }
end

-- Neovim 0.10 prints messages, newer ones give them to vim.notify.
vim.lsp.handlers['window/showMessage'] = function(_, result)
  local levels = { vim.log.levels.ERROR, vim.log.levels.WARN, vim.log.levels.INFO }
  T.notes[#T.notes + 1] = { text = result.message, level = levels[result.type] }
end

vim.api.nvim_create_autocmd('LspProgress', {
  callback = function(event)
    local params = event.data.params
    local p = vim.deepcopy(params.value)
    p.token = params.token
    T.progress[#T.progress + 1] = p
    if p.kind == 'end' and p.title ~= 'Sallyport: files' then -- that one only rouses
      T.ends = T.ends + 1
    end
  end,
})

vim.o.swapfile = false
vim.o.undoreload = 0 -- reading a file again is no undo step
local scenario = assert(loadfile((assert(arg[1], 'which scenario?'))))
scenario(T)
for _, n in ipairs(T.notes) do -- a second line makes Neovim wait for Enter
  T.same(n.text:find('\n', 1, true), nil, 'line ends in the message ' .. n.text)
end
print('PASS')
