-- Dismissing the question refuses: nothing is written.
local T = ...
T.put('a.txt', 'one\ntwo\nthree\n')
T.open('a.txt')
T.answers = { false }
T.turn('please-edit')
T.same(#T.questions, 1, 'questions')
T.same(T.text(), 'one\ntwo\nthree\n', 'the buffer after the turn')
T.same(vim.bo[T.buf].modified, false, 'the buffer is modified')
