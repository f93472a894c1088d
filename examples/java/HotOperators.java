// Load libprofana in Java through the Xerial JDBC driver.
//
//   java -cp /usr/share/java/sqlite-jdbc.jar HotOperators.java PROFILE LIBRARY
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.Statement;

public class HotOperators {
    public static void main(String[] args) throws Exception {
        try (Connection db = DriverManager.getConnection("jdbc:sqlite::memory:?enable_load_extension=true")) {
            run(db, "SELECT load_extension(?)", args[1].replaceAll("\\.so$", ""));
            run(db, "SELECT profana_open('run', ?)", args[0]);
            try (Statement statement = db.createStatement();
                 ResultSet rows = statement.executeQuery("SELECT op_type, calls, total_ns FROM hot_op")) {
                while (rows.next()) {
                    System.out.println(rows.getString(1) + " " + rows.getLong(2) + " " + rows.getLong(3));
                }
            }
        }
    }

    private static void run(Connection db, String sql, String argument) throws Exception {
        try (PreparedStatement statement = db.prepareStatement(sql)) {
            statement.setString(1, argument);
            statement.executeQuery().close();
        }
    }
}
