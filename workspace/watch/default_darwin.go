package watch

// defaultFolders is small where every file of a watched folder is opened (kqueue).
const defaultFolders = 256
