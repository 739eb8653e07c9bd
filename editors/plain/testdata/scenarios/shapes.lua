-- Edits at the places that editors treat in their own way: the ends of the
-- text, an empty text, wide characters, no newline at the end. After each the
-- buffer, the server's copy and undo agree.
local T = ...
-- Neovim calls an empty text one empty line, and 0.10 says that all was deleted.
local function neovim(s, deleted)
  if s == '' and deleted and vim.fn.has('nvim-0.11') == 0 then
    return ''
  end
  return s == '' and '\n' or s
end
local cases = {
  { 'append a line', 'one\ntwo\n', 'one\ntwo\nthree\n' },
  { 'append after a line without end', 'one\ntwo', 'one\ntwo\nthree' },
  { 'insert at the start', 'one\n', 'zero\none\n' },
  { 'delete the first line', 'one\ntwo\n', 'two\n' },
  { 'delete the last line', 'one\ntwo\nthree\n', 'one\ntwo\n' },
  { 'delete all', 'one\ntwo\n', '' },
  { 'fill an empty file', '', 'one\ntwo\n' },
  { 'an empty line at the end', 'one\n', 'one\n\n' },
  { 'change all', 'one\ntwo\n', 'eins\nzwei\ndrei\n' },
  { 'both ends', 'one\ntwo\nthree\n', 'ONE\ntwo\nTHREE\nfour\n' },
  { 'behind wide characters', 'a😀b🎈c\n', 'a😀b🎈d\n' },
  { 'of wide characters', 'x😀y\nz\n', 'x😁y\nz😀\n' },
  { 'beside combining characters', 'e\204\129tude\n', 'e\204\129tudes\n' },
}
T.put('a.txt', '')
T.open('a.txt')
T.mode('acceptEdits')
for i, c in ipairs(cases) do
  local what, old, new = c[1], c[2], c[3]
  T.put('a.txt', old)
  T.open('a.txt')
  local before = T.text()
  T.put('want.txt', new)
  T.turn('please-put')
  T.same(T.disk('seen.txt'), neovim(old), what .. ': what the agent saw')
  T.same(T.disk('error.txt'), '', what .. ': the write')
  T.same(T.disk('after.txt'), neovim(new, true), what .. ': what it sees now')
  local want = new
  if want:sub(-1) ~= '\n' then
    want = want .. '\n' -- Neovim shows every text with an end
  end
  T.same(T.text(), want, what .. ': the buffer')
  T.same(T.disk('a.txt'), old, what .. ': the disk')
  T.keys('u')
  T.same(T.text(), before, what .. ': after u')
  T.same(#T.questions, 0, what .. ': questions')
  T.same(T.ends, i, what .. ': turns')
end
