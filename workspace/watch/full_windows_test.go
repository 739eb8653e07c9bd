package watch

// full is what a source with no place left says.
const full = errorTooManyOpenFiles
