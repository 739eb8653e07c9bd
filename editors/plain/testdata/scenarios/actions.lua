-- Code actions: a question about the selection, and about a problem.
local T = ...
T.put('a.txt', 'one\nplease-tell 😀 me\nthree\n')
T.open('a.txt')
local uri = vim.uri_from_bufnr(T.buf)
local function actions(range, diagnostics)
  local params = {
    textDocument = { uri = uri },
    range = range,
    context = { diagnostics = diagnostics or vim.empty_dict() },
  }
  if not diagnostics then
    params.context.diagnostics = {}
  end
  local got = vim.lsp.buf_request_sync(T.buf, 'textDocument/codeAction', params, 10000)
  local titles = {}
  for _, a in ipairs(got and got[T.client.id] and got[T.client.id].result or {}) do
    titles[#titles + 1] = a.title
  end
  return titles
end
local line = { start = { line = 1, character = 0 }, ['end'] = { line = 2, character = 0 } }
local here = { start = { line = 0, character = 0 }, ['end'] = { line = 0, character = 0 } }
T.same(actions(here), {}, 'actions without a selection')
T.same(actions(line), { 'Ask the agent about this selection' }, 'actions on a selection')
local problem = { range = line, message = 'please-tell that it is odd', source = 'lint', severity = 2 }
T.same(actions(here, { problem }), { 'Ask the agent to fix this' }, 'actions on a problem')

vim.lsp.buf.code_action({
  apply = true,
  range = { start = { 2, 0 }, ['end'] = { 2, #vim.fn.getline(2) } },
  context = { diagnostics = {}, only = { 'refactor' } },
})
T.wait('the first turn', function()
  return T.ends == 1
end)
vim.lsp.buf.code_action({ apply = true, context = { diagnostics = { problem }, only = { 'quickfix' } } })
T.wait('the second turn', function()
  return T.ends == 2
end)
local file = assert(T.conversation(), 'the conversation is not shown')
local text = table.concat(vim.fn.readfile(file), '\n')
T.contains(text, 'please-tell 😀 me', 'the selection in the conversation')
T.contains(text, 'Line 2: please-tell that it is odd (lint)', 'the problem in the conversation')
