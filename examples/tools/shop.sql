CREATE TABLE orders (id integer PRIMARY KEY, customer integer, item text, total integer);
INSERT INTO orders (customer, item, total) VALUES (7, 'kettle', 30), (8, 'lamp', 45), (7, 'cup', 6);
