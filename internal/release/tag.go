package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// tag checks that the commit at HEAD can be released, and prints the tags that make it a
// release. If forReal is set, it makes them. It pushes nothing.
func tag(root, version string, forReal bool, out io.Writer) error {
	if changed, err := git(root, "status", "--porcelain"); err != nil {
		return err
	} else if changed != "" {
		return fmt.Errorf("the working tree differs from its commit; commit or remove:\n%s", changed)
	}
	if err := checkPrepared(root, version); err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "release")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	staged, proxy := filepath.Join(work, "tree"), filepath.Join(work, "proxy")
	modules, err := stage(root, staged)
	if err != nil {
		return err
	}
	if err := writeProxy(staged, proxy, version, time.Now(), modules); err != nil {
		return err
	}
	head, err := git(root, "rev-parse", "HEAD")
	if err != nil {
		return err
	}
	beside, err := commit(root, staged, version, filepath.Join(work, "index"), modules)
	if err != nil {
		return err
	}
	commits := map[string]string{} // by tag
	var tags []string
	for _, m := range modules {
		if !m.released() {
			continue
		}
		name := m.tag(version)
		if existing, err := git(root, "tag", "--list", name); err != nil {
			return err
		} else if existing != "" {
			return fmt.Errorf("the tag %s exists; a tag is never moved: release the next version", name)
		}
		tags, commits[name] = append(tags, name), beside
		if m.dir == "." {
			commits[name] = head
		}
	}
	if err := verify(root, work, proxy, version, modules, commits); err != nil {
		return err
	}
	for _, name := range tags {
		fmt.Fprintln(out, commits[name][:12], name)
		if forReal {
			if _, err := git(root, "tag", "-a", "-m", name, name, commits[name]); err != nil {
				return err
			}
		}
	}
	if !forReal {
		fmt.Fprintln(out, "nothing was tagged; give -tag for that")
		return nil
	}
	fmt.Fprintln(out, "push them at once: git push --atomic origin", strings.Join(tags, " "))
	return nil
}

// commit creates the commit that the tags of the nested modules name: HEAD, with the
// staged go.mod, go.sum and LICENSE of each module. It moves no branch and leaves the
// index of the repository alone.
func commit(root, staged, version, index string, modules []*mod) (string, error) {
	environment := []string{"GIT_INDEX_FILE=" + index}
	if _, err := gitInput(root, environment, nil, "read-tree", "HEAD"); err != nil {
		return "", err
	}
	for _, m := range modules {
		for _, file := range []string{"go.mod", "go.sum", "LICENSE"} {
			name := filepath.Join(filepath.FromSlash(m.dir), file)
			data, err := os.ReadFile(filepath.Join(staged, name))
			if errors.Is(err, os.ErrNotExist) {
				continue
			}
			if err != nil {
				return "", err
			}
			blob, err := gitInput(root, nil, bytes.NewReader(data), "hash-object", "-w", "--stdin")
			if err != nil {
				return "", err
			}
			entry := "100644," + blob + "," + filepath.ToSlash(name)
			if _, err := gitInput(root, environment, nil, "update-index", "--add", "--cacheinfo", entry); err != nil {
				return "", err
			}
		}
	}
	tree, err := gitInput(root, environment, nil, "write-tree")
	if err != nil {
		return "", err
	}
	return git(root, "commit-tree", "-p", "HEAD", "-m", "release: "+version+" of the nested modules", tree)
}

// verify sets the tags in a clone and lets the go command download each module from it
// as it would from the public repository. What it gets must be what the proxy serves,
// whose checksums the nested modules name.
func verify(root, work, proxy, version string, modules []*mod, commits map[string]string) error {
	clone := filepath.Join(work, "clone")
	if _, err := git(root, "clone", "--quiet", "--shared", "--no-checkout", root, clone); err != nil {
		return err
	}
	for name, target := range commits {
		if _, err := git(clone, "tag", name, target); err != nil {
			return err
		}
	}
	var library string
	for _, m := range modules {
		if m.dir == "." {
			library = m.path()
		}
	}
	download := func(goproxy, path string) (string, error) {
		cmd := exec.Command("go", "mod", "download", "-json", path+"@"+version)
		cmd.Dir = work
		cmd.Env = append(os.Environ(),
			"GOPROXY="+goproxy, "GONOSUMDB="+library, "GOPRIVATE=", "GONOPROXY=", "GOVCS=*:git", "GOWORK=off", "GOFLAGS=-modcacherw",
			"GOMODCACHE="+filepath.Join(work, "modcache", goproxy[:4]),
			"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=url."+clone+".insteadOf", "GIT_CONFIG_VALUE_0=https://"+library)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		var got struct{ Sum, Error string }
		if decodeErr := json.Unmarshal(out, &got); decodeErr != nil {
			return "", fmt.Errorf("go mod download: %w, %w: %s", err, decodeErr, stderr.Bytes())
		}
		if got.Error != "" {
			return "", errors.New(got.Error)
		}
		return got.Sum, err
	}
	for _, m := range modules {
		if !m.released() {
			continue
		}
		tagged, err := download("direct", m.path())
		if err != nil {
			return fmt.Errorf("from the tag %s: %w", m.tag(version), err)
		}
		proxied, err := download("file://"+filepath.ToSlash(proxy), m.path())
		if err != nil {
			return fmt.Errorf("from the file proxy: %w", err)
		}
		if tagged != proxied {
			return fmt.Errorf("the tag %s gives %s, and the nested modules' go.sum say %s: "+
				"a file of it is not committed as it is in the tree", m.tag(version), tagged, proxied)
		}
	}
	return nil
}
