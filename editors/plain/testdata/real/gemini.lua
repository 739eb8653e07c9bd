-- Gemini CLI edits a dirty buffer while the user types elsewhere in it.
local T = ...
T.put('notes.txt', 'alpha\nbeta\ngamma\n')
T.open('notes.txt')
T.keys('Gomine, not saved<Esc>')
T.answers = {
  'Send their text along',
  function(choose)
    T.keys('ggOabove<Esc>')
    choose('Allow')
  end,
}
T.turn('script:edit cwd=' .. T.project, 240000)
T.same(T.text(), 'above\nalpha\nBETA\ngamma\nmine, not saved\n', 'the buffer after the turn')
T.same(vim.bo[T.buf].modified, true, 'the buffer is unsaved')
T.same(T.disk('notes.txt'), 'alpha\nbeta\ngamma\n', 'the file on disk')
T.keys('u')
T.same(T.text(), 'above\nalpha\nbeta\ngamma\nmine, not saved\n', 'the buffer after u')
local file = assert(T.conversation(), 'the conversation is not shown')
T.same(vim.fn.readfile(file, '', 1), { '# gemini in ' .. T.project }, 'the heading of the conversation')
