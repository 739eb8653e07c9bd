-- A5: the agent's own shell writes a file that is open with unsaved text. Where the
-- two changed different lines both are in the buffer, as one undo step; where they
-- changed the same one, both texts stay where they are and that is said.
local T = ...
T.put('a.txt', 'one\ntwo\nthree\nfour\n')
T.open('a.txt')
vim.api.nvim_buf_set_lines(T.buf, 3, 4, false, { 'four, typed' })
T.keys('<Ignore>')
T.answers = { 'Leave them out' }
T.turn('please-direct')
T.wait('both are in the buffer', function()
  return T.text() == 'one\nTWO\nthree\nfour, typed\n'
end, 1000)
T.same(T.disk('a.txt'), 'one\nTWO\nthree\nfour\n', 'the file')
T.same(vim.bo[T.buf].modified, true, 'modified')
T.keys('u')
T.same(T.text(), 'one\ntwo\nthree\nfour, typed\n', 'undone in one step')
vim.cmd('write!')

T.put('a.txt', 'one\ntwo\nthree\n')
T.open('a.txt')
vim.api.nvim_buf_set_lines(T.buf, 1, 2, false, { 'two, typed' })
T.turn('please-direct')
T.wait('the conflict is said', function()
  return T.noted('both are kept')
end, 1000)
T.same(T.text(), 'one\ntwo, typed\nthree\n', 'the buffer')
T.same(T.disk('a.txt'), 'one\nTWO\nthree\n', 'the file')
