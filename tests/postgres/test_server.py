import psycopg


def test_tests_have_a_real_server_with_vectors(bare_database: str) -> None:
    with psycopg.connect(bare_database) as connection:
        connection.execute("CREATE EXTENSION vector")
        found = connection.execute("SELECT '[1,0]'::halfvec <=> '[0,1]'::halfvec").fetchone()
        assert found == (1.0,)
        assert connection.execute("SHOW server_encoding").fetchone() == ("UTF8",)
