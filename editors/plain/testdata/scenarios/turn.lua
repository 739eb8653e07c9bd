-- A turn begun by a command: the agent reads the unsaved buffer, asks, and its
-- write lands there, unsaved, as one undo step.
local T = ...
T.put('a.txt', 'one\ntwo\nthree\n')
T.open('a.txt')
T.keys('Gomine, not saved<Esc>')
local mine = T.text()

T.answers = { 'Send their text along', 'Allow' }
T.turn('please-edit')

T.same(T.text(), 'one\nTWO\nthree\nmine, not saved\n', 'the buffer after the turn')
T.same(vim.bo[T.buf].modified, true, 'the buffer is unsaved')
T.same(T.disk('a.txt'), 'one\ntwo\nthree\n', 'the file on disk')
T.keys('u')
T.same(T.text(), mine, 'the buffer after u')
T.keys('<C-r>')
T.same(T.text(), 'one\nTWO\nthree\nmine, not saved\n', 'the buffer after redo')
T.keys('uu')
T.same(T.text(), 'one\ntwo\nthree\n', 'the buffer after u of what was typed')

T.same(#T.questions, 2, 'questions')
T.contains(T.questions[1].prompt, 'Sallyport: the agent reads files from the disk, and these have unsaved changes', 'the question about unsaved text')
T.contains(T.questions[1].prompt, 'a.txt', 'the question about unsaved text')
T.same(T.questions[1].titles, { 'Send their text along', 'Leave them out' }, 'its answers')
T.contains(T.questions[2].prompt, 'Sallyport: the agent asks: Edit a.txt', 'the permission')
T.contains(T.questions[2].prompt, T.path('a.txt'), 'the permission')
T.same(T.questions[2].titles, { 'Allow', 'Reject' }, 'the options')

T.same(T.progress[1].kind, 'begin', 'the first progress')
T.same(T.progress[1].title, 'Sallyport', 'its title')
T.same(T.progress[1].cancellable, true, 'it can be cancelled')
T.same(T.progress[#T.progress].kind, 'end', 'the last progress')
T.contains(T.ending(), 'done', 'what it says')
for _, p in ipairs(T.progress) do
  T.same(p.token, T.progress[1].token, 'one progress for the turn')
end
