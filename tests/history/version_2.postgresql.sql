CREATE TABLE contentmodel_schema (
    version INTEGER NOT NULL
);
CREATE TABLE conversations (
    id VARCHAR NOT NULL,
    head VARCHAR,
    turn_count INTEGER NOT NULL,
    last_number INTEGER NOT NULL,
    settings JSONB,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
    PRIMARY KEY (id)
);
CREATE INDEX conversations_created ON conversations (created_at, id);
CREATE TABLE turns (
    id VARCHAR NOT NULL,
    conversation VARCHAR NOT NULL,
    previous VARCHAR,
    number INTEGER NOT NULL,
    is_branch BOOLEAN NOT NULL,
    role VARCHAR NOT NULL,
    status VARCHAR NOT NULL,
    model TEXT,
    origin JSONB,
    stop_reason TEXT,
    usage JSONB,
    started_at TIMESTAMP WITH TIME ZONE NOT NULL,
    ended_at TIMESTAMP WITH TIME ZONE,
    error JSONB,
    envelope JSONB,
    layout JSONB,
    writer VARCHAR,
    PRIMARY KEY (id),
    CONSTRAINT turns_number UNIQUE (conversation, number),
    FOREIGN KEY(conversation) REFERENCES conversations (id) ON DELETE CASCADE,
    FOREIGN KEY(previous) REFERENCES turns (id)
);
CREATE UNIQUE INDEX turns_follow_once ON turns (conversation, coalesce(previous, '')) WHERE NOT is_branch;
CREATE INDEX turns_not_complete ON turns (status, writer) WHERE status <> 'complete';
CREATE INDEX turns_previous ON turns (previous);
CREATE TABLE turn_blocks (
    turn VARCHAR NOT NULL,
    sequence INTEGER NOT NULL,
    block_type TEXT NOT NULL,
    text_content TEXT,
    content JSONB,
    rest JSONB,
    PRIMARY KEY (turn, sequence),
    FOREIGN KEY(turn) REFERENCES turns (id) ON DELETE CASCADE
);
CREATE TABLE log_entries (
    id VARCHAR NOT NULL,
    conversation VARCHAR NOT NULL,
    turn VARCHAR,
    kind VARCHAR NOT NULL,
    text TEXT,
    content JSONB,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    PRIMARY KEY (id),
    FOREIGN KEY(conversation) REFERENCES conversations (id) ON DELETE CASCADE,
    FOREIGN KEY(turn) REFERENCES turns (id) ON DELETE SET NULL
);
CREATE INDEX log_entries_created ON log_entries (conversation, created_at, id);
CREATE INDEX log_entries_turn ON log_entries (turn);
INSERT INTO contentmodel_schema (version) VALUES (2);
INSERT INTO conversations (id, head, turn_count, last_number, created_at, updated_at) VALUES ('old', 't1', 1, 1, '2026-01-02 03:04:05+00', '2026-01-02 03:04:05+00');
INSERT INTO turns (id, conversation, number, is_branch, role, status, model, started_at, ended_at) VALUES ('t1', 'old', 1, false, 'assistant', 'complete', 'm', '2026-01-02 03:04:05+00', '2026-01-02 03:04:05+00');
INSERT INTO turn_blocks (turn, sequence, block_type, text_content) VALUES ('t1', 0, 'text', 'Hello.');
INSERT INTO turn_blocks (turn, sequence, block_type, content) VALUES ('t1', 1, 'tool_use', '{"tool_use_id": "1", "tool_name": "f"}');
INSERT INTO log_entries (id, conversation, turn, kind, text, created_at) VALUES ('l1', 'old', 't1', 'note', 'Seen.', '2026-01-02 03:04:05+00');
