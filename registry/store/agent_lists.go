package store

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"github.com/atelier-run/atelier/registry"
)

// ListAgents returns a page of agents in the requested order. The agents have no changelog, and of their draft only the
// language and the revision. Every word of the query must occur in the agent's name, title, description or tags. If the
// filter requests it, a word may also occur in the code of the draft. Error: InvalidInput for a bad cursor.
func (s *Store) ListAgents(ctx context.Context, workspace string, f registry.AgentFilter) (registry.AgentPage, error) {
	// The subquery finds the IDs in the index, so that only the rows of the page are read.
	ids := s.read.NewSelect().TableExpr("agents AS a").Column("a.id").Where("a.workspace_id = ?", workspace).
		OrderExpr(inOrder(f)).Limit(int64(pageSize(f.Limit)) + 1)
	if err := s.narrow(ids, f, searchedColumns{list: listOf(f), text: "a.search_text", language: "a.language"}); err != nil {
		return registry.AgentPage{}, err
	}
	switch f.State {
	case "deleted":
		ids.Where("a.deleted_at IS NOT NULL")
	case "draft":
		ids.Where("a.version_count = 0")
	case "published":
		ids.Where("a.version_count > 0")
	}
	if f.State != "deleted" {
		ids.Where("a.deleted_at IS NULL")
	}
	if !f.UnusedSince.IsZero() {
		since := instant(f.UnusedSince)
		ids.Where("a.created_at < ?", since).Where("NOT EXISTS (SELECT 1 FROM agent_usage AS used WHERE used.agent_id = a.id AND used.last_used_at >= ?)", since)
	}
	switch f.View {
	case registry.MineView:
		ids.Where("a.created_by_id = ?", f.Viewer)
	case registry.ChangedView:
		ids.Where("EXISTS (SELECT 1 FROM drafts AS d JOIN versions AS v ON v.agent_id = d.agent_id WHERE d.agent_id = a.id AND v.version = a.latest_version AND " + unpublished + ")")
	case registry.FailingView:
		ids.Where("(" + newestRun(registry.Failed) + " > " + oldIfNone(registry.Succeeded) + " OR " + newestRun(registry.TimedOut) + " > " + oldIfNone(registry.Succeeded) + ")")
	}
	var rows []fullAgentRow
	err := s.read.NewSelect().Model(&rows).ColumnExpr("a.*").ColumnExpr("d.revision").ColumnExpr("COALESCE("+unpublished+", FALSE) AS unpublished").
		ColumnExpr(newestRun(registry.Succeeded)+" AS succeeded_at").ColumnExpr(newestRun(registry.Failed)+" AS failed_at").ColumnExpr(newestRun(registry.TimedOut)+" AS timed_out_at").ColumnExpr(usageColumn).
		Join("JOIN drafts AS d ON d.agent_id = a.id").Join("LEFT JOIN agent_usage AS u ON u.agent_id = a.id").
		Join("LEFT JOIN versions AS v ON v.agent_id = a.id AND v.version = a.latest_version").
		Where("a.id IN (?)", ids).OrderExpr(inOrder(f)).Scan(ctx)
	if err != nil {
		return registry.AgentPage{}, wrap("list agents", err)
	}
	page, err := agentPage(listOf(f), rows, pageSize(f.Limit))
	return page, wrap("list agents", err)
}

// mostTags is the maximum number of tags in the result of CountTags.
const mostTags = 200

// CountTags returns the tags of a workspace's agents, the most frequent first. Deleted agents do not count.
func (s *Store) CountTags(ctx context.Context, workspace string) ([]registry.TagCount, error) {
	counts := []registry.TagCount{}
	err := s.read.NewSelect().TableExpr("agents AS a").Join("CROSS JOIN "+s.dialect.eachTag()+" AS t").
		ColumnExpr("t.value AS tag, COUNT(*) AS count").Where("a.workspace_id = ?", workspace).Where("a.deleted_at IS NULL").
		GroupExpr("t.value").OrderExpr("2 DESC, 1").Limit(mostTags).Scan(ctx, &counts)
	return counts, wrap("count the tags of agents", err)
}

// unpublished is the condition that the content of a draft d and its agent a differs from the latest version v. The
// runtime auto equals every runtime, because publishing replaces auto by a runtime.
const unpublished = "(a.title <> v.title OR a.description <> v.description OR d.authored <> v.authored OR (d.runtime <> 'auto' AND d.runtime <> v.runtime))"

// newestRun returns an SQL expression for the time of an agent's newest run with a status. The expression reads one
// entry of an index.
func newestRun(status registry.Status) string {
	return "(SELECT r.created_at FROM runs AS r WHERE r.agent_id <> '' AND r.agent_id = a.id AND r.status = '" + string(status) + "' ORDER BY r.created_at DESC, r.id DESC LIMIT 1)"
}

// oldIfNone is like newestRun, but returns the time of the agent's creation if no such run exists. This time is earlier
// than every run.
func oldIfNone(status registry.Status) string {
	return "COALESCE(" + newestRun(status) + ", a.created_at)"
}

const orderUpdated = "updated"

// listOf returns the name of a list of agents, which depends on its order. A cursor contains this name.
func listOf(f registry.AgentFilter) string {
	if f.Order == orderUpdated {
		return "agents by update"
	}
	return "agents"
}

// inOrder returns the SQL sort order of a list.
func inOrder(f registry.AgentFilter) string {
	if f.Order == orderUpdated {
		return "a.updated_at DESC, a.id DESC"
	}
	return "a.name, a.id"
}

// agentKey is the sort key of a list of agents, by name or by update.
type agentKey struct {
	Name string    `json:"n"`
	At   time.Time `json:"t"`
	ID   string    `json:"i"`
}

// searchedColumns holds the SQL columns to which the filter of a list applies, and the list's name for cursors.
type searchedColumns struct{ list, text, language string }

func (s *Store) narrow(q *bun.SelectQuery, f registry.AgentFilter, in searchedColumns) error {
	for word := range strings.FieldsSeq(strings.ToLower(f.Query)) {
		if err := registry.CheckText("/q", word); err != nil {
			return err
		}
		if f.InCode {
			quoted, err := json.Marshal(word) // files are stored as JSON, which escapes quotes, backslashes and < > &
			if err != nil {
				return err
			}
			q.Where(`(? LIKE ? ESCAPE '\' OR EXISTS (SELECT 1 FROM drafts AS d WHERE d.agent_id = a.id AND LOWER(CAST(d.files AS TEXT)) LIKE ? ESCAPE '\'))`,
				bun.Safe(in.text), containing(word), containing(strings.Trim(string(quoted), `"`)))
			continue
		}
		q.Where(`? LIKE ? ESCAPE '\'`, bun.Safe(in.text), containing(word))
	}
	if f.Language != "" {
		q.Where("? = ?", bun.Safe(in.language), string(f.Language))
	}
	if f.Tag != "" {
		if err := registry.CheckText("/tag", f.Tag); err != nil {
			return err
		}
		// The search text contains the tags. Matching this text first is cheaper than reading the list of tags of every row.
		q.Where(`? LIKE ? ESCAPE '\'`, bun.Safe(in.text), containing(strings.ToLower(f.Tag))).Where(s.dialect.hasTag(), f.Tag)
	}
	if f.Cursor != "" {
		var after agentKey
		if err := readCursor(in.list, f.Cursor, &after); err != nil {
			return err
		}
		if f.Order == orderUpdated {
			q.Where("(a.updated_at, a.id) < (?, ?)", instant(after.At), after.ID)
		} else {
			q.Where("(a.name, a.id) > (?, ?)", after.Name, after.ID)
		}
	}
	return nil
}

// containing returns a LIKE pattern that matches every text that contains the given text. Its escape character is \.
func containing(text string) string {
	return "%" + strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(text) + "%"
}

// agentPage builds a page. If there is one row more than the page size, a next page exists.
func agentPage(list string, rows []fullAgentRow, size int) (registry.AgentPage, error) {
	var page registry.AgentPage
	if len(rows) > size {
		rows = rows[:size]
		last := rows[size-1]
		next, err := cursorAt(list, agentKey{Name: last.Name, At: last.UpdatedAt.UTC(), ID: last.ID})
		if err != nil {
			return page, err
		}
		page.NextCursor = next
	}
	page.Items = make([]registry.Agent, 0, len(rows))
	for i := range rows {
		a, err := rows[i].agent()
		if err != nil {
			return page, err
		}
		page.Items = append(page.Items, a)
	}
	return page, nil
}
