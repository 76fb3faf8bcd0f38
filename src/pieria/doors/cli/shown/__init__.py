"""What people see: tables and lines made with rich, which is loaded for nobody else. No verb is called from here."""
