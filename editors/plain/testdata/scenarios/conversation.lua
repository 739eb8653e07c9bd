-- The conversation opens beside the file without taking the focus; with one
-- line of the user's own configuration it follows the turn.
local T = ...
vim.api.nvim_create_autocmd('LspProgress', { callback = vim.schedule_wrap(function()
  vim.cmd.checktime()
end) })
T.put('a.txt', 'one\n')
T.open('a.txt')
local windows = #vim.api.nvim_list_wins()
T.turn('please-tell hello')
local _, buf = T.conversation()
assert(buf, 'the conversation is not shown\n' .. T.state())
T.same(#vim.api.nvim_list_wins(), windows + 1, 'windows')
T.same(vim.api.nvim_get_current_buf(), T.buf, 'the focus')
local function shown()
  return table.concat(vim.api.nvim_buf_get_lines(buf, 0, -1, false), '\n')
end
T.wait('the answer in the window', function()
  return shown():find('I was asked: please-tell hello', 1, true)
end)
T.turn('please-tell again')
T.wait('the second answer in the window', function()
  return shown():find('I was asked: please-tell again', 1, true)
end)
T.same(vim.bo[buf].modified, false, 'the conversation is modified')
T.same(vim.bo[buf].filetype, 'markdown', 'its file type')

T.command('sallyport.showConversation')
T.wait('the focus goes to the conversation', function()
  return vim.api.nvim_get_current_buf() == buf
end)
T.same(#vim.api.nvim_list_wins(), windows + 1, 'windows after it was asked for')
