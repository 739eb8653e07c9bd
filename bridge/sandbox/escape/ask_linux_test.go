package escape

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"sallyport/workspace"
	"sallyport/workspace/fence"
)

// rules are the session's fences as the configuration gives them.
func (j *job) rules() fence.Rules {
	return fence.Rules{
		Private: []string{filepath.Join(j.Home, "projects", "secret")},
		Own: fence.Own{
			State:  []string{filepath.Join(j.Home, ".local/state/sallyport")},
			Config: []string{filepath.Join(j.Home, ".config/sallyport"), filepath.Join(j.Home, ".local/share/sallyport")},
		},
		AgentConfig: []string{filepath.Join(j.Home, ".local/share/agent/settings.json"), filepath.Join(j.Home, ".local/share/agent/plugins")},
	}
}

// answer answers a job's questions as fs/read_text_file and fs/write_text_file
// do. What was read is the output.
func answer(j *job) (result, error) {
	var r result
	policy, err := fence.New(j.Folder, j.rules())
	if err != nil {
		return r, err
	}
	files := &workspace.Files{Policy: policy}
	ctx := context.Background()
	for _, o := range j.Ask {
		var err error
		switch path := j.resolve(o.path); o.do {
		case "read":
			var c workspace.Content
			c, err = files.Read(ctx, path, 0, 0)
			r.Stdout += c.Text
		case "write":
			_, err = files.Write(ctx, path, o.text)
		case "link":
			err = os.Symlink(o.text, path)
		case "storm":
			err = stormFiles(ctx, files, path, o.text)
		}
		if err != nil {
			r.Stderr += err.Error() + "\n"
		}
	}
	return r, nil
}

// stormFiles writes into a folder that is swapped for a link meanwhile.
func stormFiles(ctx context.Context, files *workspace.Files, dir, target string) error {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() { _ = swap(dir, target, stop) }) // the writer's parents may be in its way
	for i := range writes {
		_, _ = files.Write(ctx, filepath.Join(dir, "n"+strconv.Itoa(i%50)), "x") // some are refused
	}
	close(stop)
	wg.Wait()
	return nil
}
