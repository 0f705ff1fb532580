mod debian/dueq.ini
