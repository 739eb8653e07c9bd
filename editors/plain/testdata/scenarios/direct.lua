-- A6: what the agent writes with its own shell is in a clean buffer within a second
-- of the turn's end, without a focus change; the buffer is unmodified, and writing
-- it asks nothing. Another program's write is there as well.
local T = ...
T.put('a.txt', 'one\ntwo\nthree\n')
T.open('a.txt')
T.checks()
T.turn('please-direct')
T.wait('the write is in the buffer', function()
  return T.text() == 'one\nTWO\nthree\n'
end, 1000)
T.same(vim.bo[T.buf].modified, false, 'modified')
vim.cmd('write')
T.same(T.disk('a.txt'), 'one\nTWO\nthree\n', 'the file')
T.agree('after the write')

T.put('a.txt', 'one\nTWO\nthree\nfour\n')
T.wait('the write of another program is in the buffer', function()
  return T.text() == 'one\nTWO\nthree\nfour\n'
end)
T.same(vim.bo[T.buf].modified, false, 'modified by another program')
T.agree('after the write of another program')
T.same(T.noted('is edited to match'), nil, 'an edit')
