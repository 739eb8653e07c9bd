-- A write outside the project is refused, and the message says which fence,
-- which path and what is allowed.
local T = ...
T.put('a.txt', 'one\n')
T.open('a.txt')
T.turn('please-escape')
T.same(vim.uv.fs_stat(T.project .. '/../outside.txt'), nil, 'the file outside')
local n = T.noted('outside.txt')
assert(n, 'nothing was said\n' .. T.state())
T.contains(n.text, 'region', 'the message')
T.contains(n.text, T.project, 'the message')
T.same(n.level, vim.log.levels.WARN, 'its level')
