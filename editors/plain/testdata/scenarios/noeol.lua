-- A known limit of LSP in Neovim: a text without an end on its last line stays
-- one without, so an end that the agent adds becomes an empty line.
local T = ...
T.put('a.txt', 'one\ntwo')
T.open('a.txt')
T.mode('acceptEdits')
T.put('want.txt', 'one\ntwo\nthree\n')
T.turn('please-put')
T.same(T.disk('seen.txt'), 'one\ntwo', 'what the agent saw')
T.same(T.text(), 'one\ntwo\nthree\n\n', 'the lines')
T.same(T.disk('after.txt'), 'one\ntwo\nthree\n', 'what the agent sees now')
T.keys('u')
T.same(T.text(), 'one\ntwo\n', 'the lines after u')
